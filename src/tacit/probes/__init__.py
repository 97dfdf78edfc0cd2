"""Tacit's probes and their common interface."""
