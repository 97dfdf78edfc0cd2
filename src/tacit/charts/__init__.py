"""The charts of figures: the theme, the kinds of panels, and export to files."""
