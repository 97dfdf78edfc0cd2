"""Parts probe: consistency of beliefs about everyday things (Gu et al. 2023, ParRoT)."""

from __future__ import annotations

from tacit.findings.declared import Headlines, Tables

ALL, AGREED = "all", "agreed by all annotators"
"""The sets of labelled statements; of the drawings of Gu et al. (2023), ParRoT and ParRoT++."""

WITHOUT_SYMMETRIC = "without symmetric relations"
"""The published gold labels of statements with a symmetric relation are all true."""

TABLES = Tables("parts")
DETAILS = Tables("parts", "details")
HEADLINES = Headlines("parts")
