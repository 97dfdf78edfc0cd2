"""Language models with a common interface, which answers requests."""
