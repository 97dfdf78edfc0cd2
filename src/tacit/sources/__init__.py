"""Functions that read the data files for the probes."""
