"""Run a suite: several probes on several models; only one model is in memory at a time."""
