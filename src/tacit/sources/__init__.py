"""Readers of the data that probes use; each returns plain tables or frozen dataclasses."""
