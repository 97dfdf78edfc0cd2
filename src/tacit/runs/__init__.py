"""Runs: their folders, how they are carried out, and how finished ones are read."""
