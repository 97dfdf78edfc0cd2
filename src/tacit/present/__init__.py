"""How results and progress are shown in a terminal and in a notebook, whatever the probe."""
