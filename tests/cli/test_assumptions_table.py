from typing import Literal

import pytest

from tacit.cli.run import print_tables
from tacit.runs.run import Run
from tests.probes.assumptions.made_up import small_run


@pytest.mark.parametrize("wording", [None, "sentence"])
def test_nothing_is_wider_than_the_terminal(
    wording: Literal["sentence"] | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    found = small_run(wording=wording)
    request, manifest = {"probe": "assumptions"}, {"summary": found.summary}
    print_tables(Run(None, "m", request, manifest, found.tables, found.questions))
    printed = capsys.readouterr().out.replace("\N{NO-BREAK SPACE}", " ")
    assert max(map(len, printed.splitlines())) <= 80
    assert "\N{HORIZONTAL ELLIPSIS}" not in printed
    row = found.tables["elicitation_by_relation"].row(0, named=True)
    assert f"{row['map_low']:.3f} to {row['map_high']:.3f}" in printed
    assert ("probability" in printed) == (wording != "sentence")
