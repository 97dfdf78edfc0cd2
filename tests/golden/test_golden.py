"""Representative runs find what they found when their digests were recorded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.golden.record import FILE, recorded

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_runs_find_what_they_found(tmp_path: Path) -> None:
    """Each column of each table, and each key of what is printed as JSON.

    After a deliberate change, ``python -m tests.golden.record`` writes the digests anew.
    """
    known = json.loads(FILE.read_text(encoding="utf-8"))
    found = recorded(tmp_path)
    assert {name: sorted(of) for name, of in found.items()} == {
        name: sorted(of) for name, of in known.items()
    }
    differing = [
        f"{case}: {table}: {column}"
        for case, tables in known.items()
        for table, columns in tables.items()
        for column in sorted({*columns, *found[case][table]})
        if columns.get(column) != found[case][table].get(column)
    ]
    assert not differing
