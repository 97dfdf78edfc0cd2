"""The parts probe: are beliefs about everyday things consistent? (Gu et al. 2023, ParRoT)."""
