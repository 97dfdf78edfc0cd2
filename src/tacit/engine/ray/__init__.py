"""The Ray engine: the workers of a Ray cluster run the model and compute the answers."""
