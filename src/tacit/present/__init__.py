"""Display of results and progress of all probes, in terminals and notebooks."""
