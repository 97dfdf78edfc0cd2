"""Is the model's picture of an everyday thing free of contradictions? (Gu et al. 2023, ParRoT)."""
