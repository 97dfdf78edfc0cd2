"""Coherence: whether beliefs hang together, and the best world that does."""
