"""Coherence: the consistency of a set of beliefs, and its repair."""
