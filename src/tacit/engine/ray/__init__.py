"""The Ray engine, in which workers of a Ray cluster compute the blocks of a plan."""
