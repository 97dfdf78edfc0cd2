"""Findings of probes, and one declaration for each table of findings.

The declaration of a table determines the table's schema, its display in the terminal and in
reports, its page in the reference, and the paired comparison of models.
"""
