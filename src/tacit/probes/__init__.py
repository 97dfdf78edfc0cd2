"""The probes: each builds requests for a model and measures its answers."""
