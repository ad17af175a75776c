"""Search: what was said, found by its words and by its meaning, the same in every store."""
