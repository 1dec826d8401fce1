"""ATen ops: their kind of work, and their cost."""
