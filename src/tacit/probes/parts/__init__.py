"""Parts probe: consistency of beliefs about everyday things (Gu et al. 2023, ParRoT)."""
