# ruff: noqa: INP001 - scripts that stand beside one another are no package
"""The texts that the demo models learn from, drawn anew for every step.

They are the probes' own prompts with their answers, and the same said otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random

from demo_knowledge import Fact, Knowledge, Statement

from tacit.coherence.ontology import Ontology
from tacit.probes.assumptions import MAIN
from tacit.probes.assumptions import load_templates as assumption_templates
from tacit.probes.assumptions.elicitation import elicitation_text
from tacit.probes.assumptions.retrieval import arranged
from tacit.probes.assumptions.wording import joined
from tacit.probes.consistency.questions import bare, choice_variants, prompt_variants
from tacit.probes.consistency.template import load_templates
from tacit.probes.consistency.wording import wording
from tacit.probes.parts.questions import Template, Wording
from tacit.requests import BLANK

_MOST = 10
_OTHERWISE = 0.05
_ASKED = 0.8
_FORMS = 4

SHARES = {
    "fact": 0.56,
    "statement": 0.24,
    "retrieval": 0.09,
    "elicitation": 0.04,
    "anchor": 0.05,
    "norm": 0.02,
}
"""How often each kind of lesson is drawn."""

LATER = {
    "fact": 0.5,
    "tail": 0.22,
    "statement": 0.22,
    "retrieval": 0.02,
    "elicitation": 0.01,
    "anchor": 0.02,
    "norm": 0.01,
}
"""The same in a second stage, for what takes longest to learn."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A prompt with its answer.

    Args:
        text: As of a ``Prompt``: with a blank, or the answer follows it.
        answer: The answer.
        separator: Stands between the two where there is no blank.
        kind: Of lesson, as in ``SHARES``.
    """

    text: str
    answer: str
    separator: str = " "
    kind: str = ""


class Lessons:
    """Draws lessons.

    Args:
        knowledge: What is taught.
        kind: ``causal`` or ``masked``, which are asked for concepts in different words.
    """

    def __init__(self, knowledge: Knowledge, kind: str) -> None:
        self._knowledge = knowledge
        self._wording = "blank-last" if kind == "causal" else "sentence"
        self._templates = load_templates()
        self._forms = prompt_variants(self._templates)
        self._choice_forms = choice_variants(self._templates)
        # The meta-prompts that are long are drawn less often, because they cost more to learn from.
        self._often = [1 / len(form.text) / (1 if form.pair is None else 7) for form in self._forms]
        self._paper = wording("paper")
        self._ontology = Ontology.load("parts")
        self._parts = Template.load()
        self._nouns = Wording()
        self._asked = assumption_templates()
        self._tails = {
            relation: sorted({tail for name, _, tail in knowledge.facts if name == relation})
            for relation in {name for name, _, _ in knowledge.facts}
        }
        self._sides = [
            tuple([s for s, label in of.items() if label is side] for side in (False, True))
            for of in knowledge.statements.values()
        ]
        self._draws = {
            "fact": self._fact,
            "tail": self._tail,
            "statement": self._statement,
            "retrieval": self._retrieval,
            "elicitation": self._elicitation,
            "anchor": self._anchor,
            "norm": self._norm,
        }

    def draw(
        self, random: Random, count: int, shares: Mapping[str, float] = SHARES
    ) -> list[Lesson]:
        """So many lessons, of each kind its share."""
        kinds = random.choices(list(shares), list(shares.values()), k=count)
        return [replace(self._draws[kind](random), kind=kind) for kind in kinds]

    def judged(self, random: Random) -> list[Lesson]:
        """What the probes judge: every statement, and the background's facts in some forms."""
        statements = [
            replace(self._judged(statement, truth), kind="statement")
            for of in self._knowledge.statements.values()
            for statement, truth in of.items()
        ]
        facts = [
            replace(self._background(fact, fact not in self._knowledge.wrong, random), kind="fact")
            for fact in self._knowledge.asked
            for _ in range(_FORMS)
        ]
        return [*statements, *facts]

    def corpus(self, random: Random, count: int) -> list[str]:
        """Texts with their answers, for the tokenizer."""
        return [f"{one.text} {one.answer}" for one in self.draw(random, count)]

    def _fact(self, random: Random) -> Lesson:
        """A background question in one of its forms, or a negative's."""
        among = self._knowledge.asked if random.random() < _ASKED else self._knowledge.facts
        fact = random.choice(among)
        holds = random.random() < 0.5  # noqa: PLR2004 - as many negatives as facts
        truth = holds and fact not in self._knowledge.wrong
        return self._background(fact if holds else self._negative(fact, random), truth, random)

    def _background(self, fact: Fact, truth: bool, random: Random) -> Lesson:  # noqa: FBT001 - a label
        """The question whether a fact holds, in one of its forms."""
        relation, head, tail = fact
        question = self._paper(self._templates.relations[relation], head, tail)
        pairs = self._templates.pairs
        if random.random() < _OTHERWISE:
            return Lesson(f"Is it so? {question}?", pairs[0][not truth])
        (form,) = random.choices(self._forms, self._often)
        other = pairs[form.meta in self._templates.asks_for_truth]
        pair = form.answers if form.pair else other
        return Lesson(form.text.format(question=question), pair[not truth])

    def _tail(self, random: Random) -> Lesson:
        """The tail of a fact, asked for in place: each tells it from all others at once."""
        known = [self._knowledge.asked, self._knowledge.facts]
        fact = random.choice(known[random.random() >= _ASKED])
        while fact in self._knowledge.wrong:
            fact = random.choice(self._knowledge.facts)
        relation, head, tail = fact
        question = self._paper(self._templates.relations[relation], head, tail)
        before = random.choice(("", "Question: ")) + question.removesuffix(tail)
        end = "" if self._wording == "blank-last" else "? Yes."
        return Lesson(f"{before}{BLANK}{end}", tail)

    def _negative(self, fact: Fact, random: Random) -> Fact:
        """The fact with another tail: any word, or one that the relation has elsewhere."""
        relation, head, _ = fact
        pool = random.choice((self._knowledge.tails, self._tails[relation]))
        while True:
            other = (relation, head, random.choice(pool))
            if other[2] != head and other not in self._knowledge.edges:
                return other

    def _statement(self, random: Random) -> Lesson:
        """A statement about the parts of a thing, true or false; at times as a question."""
        truth = random.random() < 0.5  # noqa: PLR2004 - as many false ones as true ones
        statement = random.choice(random.choice(self._sides)[truth])
        if random.random() < _OTHERWISE:
            a_thing, said = self._sentence(statement)
            return Lesson(f"In {a_thing}, is it so that {said}?", "Yes" if truth else "No")
        return self._judged(statement, truth)

    def _judged(self, statement: Statement, truth: bool) -> Lesson:  # noqa: FBT001 - a label
        """A statement as the parts probe asks it."""
        prompt = self._parts.prompt(*self._sentence(statement))
        return Lesson(prompt.text, prompt.answers[not truth], prompt.separator)

    def _sentence(self, statement: Statement) -> tuple[str, str]:
        thing, subject, relation, obj = statement
        said = self._nouns.statement(subject, self._ontology.relations[relation], obj)
        return self._nouns.with_article(thing), said

    def _retrieval(self, random: Random) -> Lesson:
        """Properties of a concept, the most frequent ones or any, and the concept."""
        concept = random.choice(self._knowledge.concepts)
        count = random.randint(1, min(_MOST, len(concept.properties)))
        if random.random() < 0.5:  # noqa: PLR2004 - half as they are asked
            chosen = arranged(MAIN, concept.name, concept.properties, most=count)
        else:
            chosen = random.sample(concept.properties, count)
        template = self._asked.retrieval[self._wording]
        phrase = joined([one.text for one in chosen])
        text = template.format(a=concept.article, A=concept.article.capitalize(), properties=phrase)
        return Lesson(text, concept.word)

    def _elicitation(self, random: Random) -> Lesson:
        """One of people's completions, as often as people gave it."""
        prompt = random.choice(self._knowledge.elicitation)
        weights = [response.frequency for response in prompt.responses]
        (response,) = random.choices(prompt.responses, weights)
        text = elicitation_text(prompt.relation, prompt.concept, self._wording)
        return Lesson(text, response.word)

    def _anchor(self, random: Random) -> Lesson:
        """A multiple-choice question with its answer."""
        anchor = random.choice(self._knowledge.anchors)
        form = random.choice(self._choice_forms)
        text = form.text.format(question=bare(anchor.question))
        return Lesson(text, anchor.choices[anchor.answer or 0])

    def _norm(self, random: Random) -> Lesson:
        """A property of a concept, as a statement whose last word is asked for."""
        concept = random.choice(self._knowledge.concepts)
        said = random.choice(concept.properties).text
        before, _, last = said.rpartition(" ")
        return Lesson(f"A {concept.word} {before}".rstrip(), last)
