from __future__ import annotations

import json
from pathlib import Path

from tacit.sources.registry import registry
from tests.cli.conftest import Tacit


def test_all_sources_are_listed_below_the_options_that_take_them(tacit: Tacit) -> None:
    """Every source has a line, below the commands of its kind."""
    ran = tacit("show", "sources")
    assert (ran.code, ran.err) == (0, "")
    groups = [group.splitlines() for group in ran.out.split("\n\n")]
    for kind, (heading, *lines) in zip(registry().kinds.values(), groups, strict=False):
        assert all(option in heading for option in kind.options)
        assert [line.split()[0] for line in lines] == [
            source.name for source in registry().of_kind(kind.name)
        ]


def test_one_source_is_shown_with_its_files_and_steps(tacit: Tacit) -> None:
    """Address, licence, citation, files under both names, sizes, checksums and steps are shown."""
    ran = tacit("show", "sources", "everyday-things")
    assert ran.code == 0
    source = registry().source("everyday-things")
    for text in (source.home, "Apache-2.0", str(source.citation), *source.steps):
        assert text in ran.out
    for file in source.files:
        assert f"{file.name}, {file.bytes:,} bytes, save as {file.save_as}\n" in ran.out
        assert f"  sha256 {file.sha256}\n" in ran.out


def test_what_is_not_known_is_said(tacit: Tacit) -> None:
    """A licence that the registry leaves out is said to be unknown, and no checksum is shown."""
    out = tacit("show", "sources", "cslb").out
    assert "unknown; see the home page" in out
    assert "after registration" in out
    assert "sha256" not in out


def test_json_has_all_fields(tacit: Tacit) -> None:
    """Without a name it is a list, with one an object; what is not known is null."""
    listed = json.loads(tacit("show", "sources", "--json").out)
    assert [one["name"] for one in listed] == list(registry().sources)
    one = json.loads(tacit("show", "sources", "cslb", "--json").out)
    assert one in listed
    assert (one["kind"]["name"], one["licence"]) == ("norms", None)
    assert one["files"] == [
        {"name": "norms.dat", "save_as": None, "url": None, "bytes": None, "sha256": None}
    ]


def test_an_unknown_source_is_a_wrong_request(tacit: Tacit) -> None:
    """The exit code is 2, and the message names the nearest source."""
    ran = tacit("show", "sources", "conceptnet5")
    assert ran.code == 2
    assert "did you mean conceptnet?" in ran.err


def test_a_missing_file_of_norms_is_told_in_one_line(tacit: Tacit, workplace: Path) -> None:
    """The command line names the sources that fit the option."""
    norms = ("--norms", workplace / "norms.dat", "--model", "demo")
    ran = tacit("show", "prompts", "assumptions", *norms, "--out", "prompts.tsv")
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    for label in ("CSLB (", "McRae et al. 2005 (", "Buchanan et al. 2019 ("):
        assert label in ran.err
    assert not (workplace / "prompts.tsv").exists()
