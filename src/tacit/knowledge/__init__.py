"""A knowledge base in one file: facts between concepts, and how to find those of a question."""
