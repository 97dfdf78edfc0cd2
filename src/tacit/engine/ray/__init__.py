"""The Ray engine: blocks of a plan are computed by workers of a cluster."""
