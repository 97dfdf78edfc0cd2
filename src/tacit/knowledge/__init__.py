"""A knowledge base of facts between concepts, stored in a single file."""
