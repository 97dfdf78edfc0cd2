"""Readers of the data that probes use; they return plain tables or frozen dataclasses."""
