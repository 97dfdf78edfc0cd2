"""Coherence: whether beliefs hang together, and the best assignment that does."""
