"""The Ray engine: the workers of a Ray cluster compute the blocks of a plan."""
