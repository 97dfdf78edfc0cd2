"""Coherence: check whether a set of beliefs is consistent, and repair the beliefs."""
