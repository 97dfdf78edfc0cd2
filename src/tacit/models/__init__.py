"""Language models behind one seam: prompts go in, log-probabilities come out."""
