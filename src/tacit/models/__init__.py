"""Language models behind one interface: prompts in, log-probabilities out."""
