"""The headlines of the consistency probe, and its tables (``data/tables/consistency.yaml``)."""

from __future__ import annotations

from tacit.findings.declared import Headlines, Tables

TABLES = Tables("consistency")
DETAILS = Tables("consistency", "details")
HEADLINES = Headlines("consistency")
