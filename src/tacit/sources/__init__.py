"""Readers of the data that probes ask about; each gives plain tables and frozen dataclasses."""
