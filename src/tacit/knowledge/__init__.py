"""A single-file knowledge base: facts between concepts, and the facts of a question."""
