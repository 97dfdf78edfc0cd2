"""Run a suite: several probes on several models, with only one model in memory at a time."""
