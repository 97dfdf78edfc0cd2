"""Tacit shows whether a language model's knowledge of concepts hangs together."""

__version__ = "0.1.0"
