"""Does background knowledge predict correct answers? (Sahu et al. 2022)."""
