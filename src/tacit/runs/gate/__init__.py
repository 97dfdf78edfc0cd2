"""A gate: whether changed models are still within the limits of a policy."""
