"""Runs: their execution, their folders, and reading finished ones."""
