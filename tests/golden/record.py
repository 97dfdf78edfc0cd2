"""Records digests: ``python -m tests.golden.record``.

Without arguments it writes ``digests.json`` anew. A deliberate change of a finding, of a name or of
an input is the only reason for that; the changelog says which.

With ``--demo FILE`` it runs the same cases on the demo's models. Their log-probabilities depend on
the processor, so these digests are compared on one machine alone: record them before a change and
after it.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tacit.sources.demo import THINGS
from tests.golden.models import install
from tests.golden.runs import Digests, Inputs, cases, cases_of_replies, digests

FILE = Path(__file__).with_name("digests.json")


def recorded(folder: Path) -> dict[str, Digests]:
    """The digests of all cases, run in an empty folder on models that are alike everywhere."""
    with pytest.MonkeyPatch.context() as patch:
        _enter(patch, folder)
        install(patch)
        return digests(Inputs(), [*cases(Inputs()), *cases_of_replies(Inputs())])


def recorded_of_demo(folder: Path, drawings: Path) -> dict[str, Digests]:
    of = Inputs("demo", "demo-masked", "demo-masked", drawings)
    with pytest.MonkeyPatch.context() as patch:
        _enter(patch, folder)
        return digests(of, cases(of))


def _enter(patch: pytest.MonkeyPatch, folder: Path) -> None:
    patch.chdir(folder)
    patch.delenv("TACIT_STORE", raising=False)


def _main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--demo", type=Path, metavar="FILE", help="record the demo's models here")
    parser.add_argument("--drawings", type=Path, default=THINGS, help="a folder of drawings")
    given = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    drawings = given.drawings.resolve()
    with TemporaryDirectory() as folder:
        place = Path(folder)
        found = recorded_of_demo(place, drawings) if given.demo else recorded(place)
    text = json.dumps(found, indent=1, sort_keys=True) + "\n"
    (given.demo or FILE).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    _main()
