"""Hugging Face transformers models that run in this process."""
