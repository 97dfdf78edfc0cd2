"""The tables of the assumptions probe, declared in ``data/tables/assumptions.yaml``."""

from tacit.findings.declared import Tables

TABLES = Tables("assumptions")
DETAILS = Tables("assumptions", "details")
