"""The assumptions probe: do models share people's assumptions about concepts (Weir et al. 2020)?"""
