"""A probe of another package: does a model know which words are synonyms?"""

from dataclasses import dataclass
from pathlib import Path

import altair as alt
import polars as pl

from tacit import Prompt, ShareProbe, Shown, figure, option, read_table, share, template


@figure("Beliefs", "P(yes) of each pair.")
def beliefs(shown: Shown) -> alt.Chart | None:
    """A point for each pair and model."""
    table = shown.table("questions")
    if table is None:
        return None
    points: alt.Chart = alt.Chart(table).mark_point()
    return points.encode(alt.X("belief"), alt.Y("synonym"), alt.Color("model"))


@dataclass(frozen=True)
class Synonyms(ShareProbe):
    """Ask whether words are synonyms."""

    name = "synonyms"
    key, by, cluster, unit = ("word", "synonym"), "label", "word", "pair"
    asks = ("belief",)
    results = (share("right", "accuracy", chance=0.5),)
    figures = (beliefs,)

    pairs: Path = option(help="Pairs of words, with the columns word, synonym and label (yes, no).")
    template: str = template(
        "Is {word} a synonym of {synonym}? Answer:", help="How a pair is put to the model."
    )

    def ask(self) -> tuple[pl.DataFrame, dict[str, list[Prompt]]]:
        """One question per pair."""
        table = read_table(self.pairs, ("word", "synonym", "label"))
        texts = [self.template.format(**pair) for pair in table.to_dicts()]
        return table, {"belief": [Prompt(text, ("yes", "no")) for text in texts]}

    def judge(self, asked: pl.DataFrame) -> pl.DataFrame:
        """A pair is right if the more probable answer is its label."""
        yes = pl.col("label") == "yes"
        return asked.with_columns(right=(pl.col("belief") > 1 / 2) == yes)
