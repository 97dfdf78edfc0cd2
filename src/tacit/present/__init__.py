"""Display of results and progress in terminals and notebooks, for all probes."""
