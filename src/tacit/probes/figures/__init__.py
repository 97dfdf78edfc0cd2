"""What the figures of all probes are made of."""
