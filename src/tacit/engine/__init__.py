"""Queries models: deduplicates requests, skips cached ones, and stores the answers."""
