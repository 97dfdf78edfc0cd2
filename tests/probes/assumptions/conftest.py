"""Norms in the layout of the CSLB file, with the oddities of the real one."""

from pathlib import Path

import pytest

from tacit.sources.norms import Norms, read_norms

_HEADER = "domain\tfeature type\tconcept\tfeature\tpf\tfeature alternatives\tparticipant list\n"
_VISUAL, _FUNCTIONAL, _ENCYCLOPAEDIC = "visual perceptual", "functional", "encyclopaedic"
# Category, feature, frequency and alternatives; ten of them can be used.
_BEAR = (
    (_VISUAL, "has claws", 15, ""),
    (_VISUAL, "has fur_hair", 27, "has fur; has hair"),
    (_VISUAL, "is big_large", 15, ""),
    ("taxonomic", "is a bear", 20, ""),
    (_ENCYCLOPAEDIC, "is found in forests_woods", 9, "does live in woods_forests"),
    (_FUNCTIONAL, "does eat", 10, "of the"),
    ("taxonomic", "is an animal", 11, ""),
    (_VISUAL, "is brown", 9, ""),
    (_VISUAL, "made of fluff_down", 2, ""),
    ("other perceptual", "does growl_roar", 4, ""),
    (_FUNCTIONAL, "does not fly", 3, ""),
    (_VISUAL, "has paws", 7, "paws; has paws"),
)
_PLAIN = tuple(
    (_VISUAL, f"has {part}", 20 - place, "")
    for place, part in enumerate(
        ("legs", "arms", "eyes", "ears", "toes", "teeth", "nails", "bones", "skin", "hair")
    )
)
_CONCEPTS = {
    "bear": _BEAR,
    "owl": _PLAIN,
    "polar_bear": _PLAIN,
    "seal_(animal)": _PLAIN,
    "fox": _PLAIN[:9],
    "unicorn": _PLAIN,
    "hour": _PLAIN,
    "tongs": ((_FUNCTIONAL, "made of metal", 8, ""),),
}


def _participants(frequency: int, alternatives: str) -> str:
    """A list aligned with the alternatives: the second of two is from the last two people."""
    names = [f"p{number}" for number in range(frequency)]
    if ";" not in alternatives:
        return " ".join(names)
    return f"{' '.join(names[:-2])}; {' '.join(names[-2:])}"


@pytest.fixture
def norms(tmp_path: Path) -> Norms:
    rows = [
        f"Things\t{category}\t{concept}\t{feature}\t{frequency}\t{alternatives}\t"
        f"{_participants(frequency, alternatives)}"
        for concept, properties in _CONCEPTS.items()
        for category, feature, frequency, alternatives in properties
    ]
    path = tmp_path / "norms.dat"
    path.write_text(_HEADER + "\n".join(rows) + "\n", encoding="utf-8")
    return read_norms(path)
