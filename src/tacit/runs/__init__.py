"""Execute runs, write their folders, and read finished runs."""
