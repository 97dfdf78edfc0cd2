"""Pretrained models: ``make real``."""
