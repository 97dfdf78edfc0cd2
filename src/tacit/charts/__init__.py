"""Charts for figures: the theme, the kinds of panels, and the export to files."""
