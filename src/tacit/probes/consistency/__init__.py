"""Test whether background knowledge predicts correct answers (Sahu et al. 2022)."""
