"""Findings of probes, and the declarations of their tables, one per table.

The declaration of a table determines its schema, its display in the terminal and in reports, its
page in the reference, and the paired comparison of models.
"""
