"""The assumptions probe: stereotypic tacit assumptions about concepts (Weir et al. 2020)."""
