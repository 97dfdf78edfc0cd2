"""What a probe finds, and how it is declared: each table once, with its columns.

From a table's declaration come its schema, how it is printed and shown in reports, its page of the
reference, and the paired comparison of models.
"""
