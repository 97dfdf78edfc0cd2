"""Language models, which answer requests through a common interface."""
