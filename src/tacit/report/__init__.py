"""A report on runs, as one self-contained HTML file that a browser can open from disk."""
