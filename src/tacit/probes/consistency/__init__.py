"""Test whether background knowledge predicts correct answers (Sahu et al. 2022)."""

from __future__ import annotations

from tacit.findings.declared import Headlines, Tables

TABLES = Tables("consistency")
DETAILS = Tables("consistency", "details")
HEADLINES = Headlines("consistency")
