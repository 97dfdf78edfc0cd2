"""Coherence: check a set of beliefs for consistency, and repair inconsistent beliefs."""
