"""Machine code in one room: compiling and its cache, vectors, elementary functions, prefetching, the processor, Python's objects."""
