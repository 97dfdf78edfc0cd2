"""The verdict is the first of five that holds, by one rule for all probes."""

from tacit.findings.verdict import Measured, TopAnswer, verdict


def measure(low: float | None, high: float | None, chance: float = 0.5) -> Measured:
    return Measured("the AUROC", low, high, chance)


CLEAR, CHANCE = measure(0.6, 0.7), measure(0.45, 0.6)


def test_the_first_that_holds() -> None:
    control = "the control explains it"
    cases: list[tuple[float, int, list[Measured], list[Measured], str | None, str]] = [
        (0.95, 1, [CLEAR], [], None, "constant"),
        (0.949, 4, [CLEAR], [], None, "too few data"),
        (0.6, 5, [measure(None, None)], [], None, "too few data"),
        (0.6, 5, [measure(0.1, 0.61)], [], None, "too few data"),
        (0.6, 5, [CHANCE, CHANCE], [], None, "no signal"),
        (0.6, 5, [CHANCE, CHANCE], [CLEAR], None, "weak"),
        (0.6, 5, [CLEAR, CHANCE], [], None, "weak"),
        (0.6, 5, [measure(0.3, 0.4)], [], None, "no signal"),
        (0.6, 5, [CLEAR, CLEAR], [], control, "weak"),
        (0.6, 5, [CLEAR, CLEAR], [], None, "clear"),
    ]
    for share, clusters, measures, also, by, expected in cases:
        top = TopAnswer("true", share, 100)
        found = verdict(top, clusters, 5, measures, noun=("thing",), also=also, control=by)
        assert (found.name, found.shows_something) == (expected, expected in {"weak", "clear"})
    assert TopAnswer.of(["no", "yes", "yes"]) == TopAnswer("yes", 2 / 3, 3)
    assert TopAnswer.of([]) is None
