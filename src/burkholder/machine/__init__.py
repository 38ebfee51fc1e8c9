"""Machine code in one room: nothing outside it knows LLVM, numba's inside or how CPython lays out its objects.

compiling    how loops are compiled, and the words of numba that loops are written in
cache        machine code on disk, found again by the next process; `announcing` says when it is not
processor    what the processor can do, and the switch to plain numba (BURKHOLDER_PLAIN=1)
vectors      several doubles as one value; formulas written for numbers take vectors as they stand
elementary   exponentials, logarithms and roots of numbers and of vectors
cells, columns, prefetch     scattered memory: entries as vectors and back, and asking for them early
bits, separators, pairs      bytes of text: whole machine words, 64 bytes and eight numbers at a time
objects      Python's objects inside compiled rounds
locks        whether a lock is held, asked by compiled rounds

Every operation is a plain Python function, which is its definition. In compiled code it becomes the machine code attached to
it (`operations`), or, with BURKHOLDER_PLAIN=1, the definition itself.
"""
