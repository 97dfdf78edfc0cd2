"""Charts for figures: the theme, a few kinds of marks, and export to files."""
