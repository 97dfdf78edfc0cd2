"""Execute runs, write the folders of runs, and read finished runs."""
