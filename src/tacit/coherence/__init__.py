"""Coherence: consistency checks of a set of beliefs, and repair."""
