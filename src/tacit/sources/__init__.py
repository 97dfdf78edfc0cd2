"""Readers of data files for probes; the readers return tables or frozen dataclasses."""
