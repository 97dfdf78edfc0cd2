"""The Ray engine: workers of a Ray cluster compute the blocks of a plan."""
