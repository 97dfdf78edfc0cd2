"""Models of Hugging Face transformers, computed in this process."""
