"""Build and query a knowledge base: a file of facts that connect concepts."""
