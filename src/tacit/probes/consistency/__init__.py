"""Does knowing the background tell whether the answer is right? (Sahu et al. 2022)."""
