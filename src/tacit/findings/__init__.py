"""The findings of probes, and the declaration of each table of findings.

The declaration of a table determines the table's schema, its display in the terminal and in
reports, its description in the reference documentation, and the paired comparison of models.
"""
