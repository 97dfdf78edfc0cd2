"""Run suites of several probes on several models, with one model in memory at a time."""
