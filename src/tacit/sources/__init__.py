"""Readers of the data that probes use, which return plain tables or frozen dataclasses."""
