"""Asks models: removes duplicates, skips what the store holds, and keeps what was answered."""
