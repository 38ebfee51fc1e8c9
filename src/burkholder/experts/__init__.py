"""Expert advice: Huber-root by default, the well-known aggregators beside it."""
