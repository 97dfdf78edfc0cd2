"""Plot predictions of whether answers are correct, and accuracy by background score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.charts.marks import Axis, Curves, bounds, measured, page
from tacit.charts.shown import counted, titled
from tacit.charts.theme import series
from tacit.findings.spec import figure
from tacit.probes.consistency.features import BOTH, PREDICTORS
from tacit.probes.consistency.tables import TABLES

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from tacit.charts.shown import Shown
    from tacit.charts.theme import Chart

_NAMES = {name: name.replace("_", " ") for name in PREDICTORS}
_OF = (
    (
        "features of the predictor \u201cbackground\u201d: background score, margin of the "
        "background answers, number of facts"
    ),
    (
        "features of the predictor \u201canswer\u201d: answer margin, entropy over the choices, "
        "frequency of the concepts, prior (the answer's score after an empty question)"
    ),
    (
        "the predictor \u201cmargin\u201d uses only the answer margin; the predictor "
        "\u201cboth\u201d uses the features of \u201cbackground\u201d and of \u201canswer\u201d"
    ),
)


@figure(
    "Prediction of correct answers",
    "This figure is not in Sahu et al. (2022). The figure shows how well logistic regressions "
    "on different features (such as the background score or the answer margin) predict which "
    "anchor questions are answered correctly.",
)
def prediction(shown: Shown) -> Chart | None:
    """Plot the predictors' risk-coverage curves, and the calibration of predictor ``both``."""
    curves, bins = shown.table("risk_coverage"), shown.table("calibration")
    if curves is None or bins is None:
        return None
    models = curves["model"].unique(maintain_order=True)
    panels = [
        [_risks(curves.filter(model=model), shown), _calibration(bins.filter(model=model), shown)]
        for model in models
    ]
    largest = curves.filter(coverage=100)
    title = titled(
        "Prediction of correct answers",
        "left panel: share of incorrect answers among the covered questions; at a coverage of "
        "10 %, the covered questions are the 10 % of questions with the highest predicted "
        "probability of a correct answer",
        "left panel, questions with equal predicted probabilities: mean share of incorrect answers "
        "over all orders of these questions",
        "right panel: share of correct answers by predicted probability (from all features), in "
        "ten bins of equal width; band: 95 % CIs (percentile bootstrap, clustered by question "
        "concept); dotted line: perfect calibration",
        *_OF,
        f"{counted(largest['n'], 'anchor question')}; the probability of a correct answer to a "
        "question is predicted by a regression that was fitted only to questions with other "
        "question concepts",
    )
    return page(title, *panels)


def _risks(part: pl.DataFrame, shown: Shown) -> alt.LayerChart:
    import polars as pl

    column = TABLES["risk_coverage"].column("risk")
    drawn = measured(_named(part), column, n=TABLES["risk_coverage"].column("n"))
    drawn = drawn.with_columns(at=pl.col("coverage") / 100)
    return Curves(
        drawn,
        Axis(column.heading, bounds([0.0, *part["risk"]]), percent=True),
        shown.look.colours,
        f"{part['model'][0]}: risk by coverage",
        "coverage",
        series(_NAMES.values(), shown.look.colours),
        percent=True,
    ).chart()


def _calibration(part: pl.DataFrame, shown: Shown) -> alt.LayerChart:
    column, colours = TABLES["calibration"].column("accuracy"), shown.look.colours
    part = part.filter(predictor=BOTH)
    drawn = measured(_named(part), column, n=TABLES["calibration"].column("n"))
    drawn = drawn.with_columns(at="predicted", chance="predicted")
    styles = [one for one in series(_NAMES.values(), colours) if one.name == BOTH]
    return Curves(
        drawn,
        Axis("correct", (0.0, 1.0), percent=True),
        colours,
        "both: calibration",
        "predicted probability",
        styles,
        percent=True,
    ).chart()


def _named(part: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    named = part.with_columns(series=pl.col("predictor").replace(_NAMES))
    return named.with_columns(label="series")


@figure(
    "Accuracy by background score",
    "This figure is not in Sahu et al. (2022). Share of anchor questions that are answered "
    "correctly, by background score.",
)
def accuracy_by_score(shown: Shown) -> Chart | None:
    """Plot the accuracy on anchor questions for each bin of background scores."""
    table = shown.defined("accuracy_by_score", "accuracy")
    if table is None:
        return None
    column = TABLES["accuracy_by_score"].column("accuracy")
    drawn = measured(
        table.with_columns(label="model", series="model"),
        column,
        n=TABLES["accuracy_by_score"].column("n"),
    ).with_columns(at="background_score")
    panel = Curves(
        drawn,
        Axis(column.heading, (0.0, 1.0), percent=True),
        shown.look.colours,
        "accuracy by background score",
        "background score (mean in the bin)",
        series(shown.labels.values(), shown.look.colours),
        percent=True,
    )
    title = titled(
        "Accuracy by background score",
        "share of anchor questions answered correctly, in bins of the background score; bands: "
        f"{shown.intervals('others')}",
        f"{counted(table['n'], 'anchor question')} per bin",
    )
    return page(title, [panel.chart()])


FIGURES = (prediction, accuracy_by_score)
