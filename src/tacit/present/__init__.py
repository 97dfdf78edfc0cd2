"""Show the results and the progress of all probes in terminals and notebooks."""
