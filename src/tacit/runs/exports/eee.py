"""Write runs in the format of Every Eval Ever, version 0.3.0."""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.errors import RequestError
from tacit.files import file_name, publish_text
from tacit.findings.comparison import of_question
from tacit.probes.registry import probe
from tacit.runs.metrics import Metric, main_metrics
from tacit.runs.run import Run
from tacit.strings import last_part

SCHEMA = "0.3.0"
_LEVEL = 0.95
_UNKNOWN = "unknown"


@dataclass(frozen=True)
class EvaluationRecord:
    """A run as a record, and its answers that are right or wrong as rows."""

    run: Run
    organization: str
    relationship: str
    time: str

    @property
    def model(self) -> str:
        """The model's name on the hub or its server; of a folder or a log, only its last part."""
        name = str(self._served or self.run.model.get("name", self.run.name))
        on_hub = name.count("/") == 1 and ":" not in name and not Path(name).exists()
        return name if on_hub else last_part(name)

    @property
    def _served(self) -> str | None:
        """The model's name on its server."""
        return (self.run.model.get("identity") or {}).get("served_model")

    @property
    def id(self) -> str:
        """The identifier of the evaluation."""
        return f"tacit_{self.run.probe}/{self.model}/{self.time}"

    @property
    def path(self) -> Path:
        """The path of the record without its suffix; a run has the same one each time."""
        digest = hashlib.sha256(json.dumps(dict(self.run.manifest), sort_keys=True).encode())
        number = uuid.UUID(bytes=digest.digest()[:16], version=4)
        developer, slash, model = self.model.partition("/")
        owner, own = (developer, model) if slash else (_UNKNOWN, developer)
        return Path(
            "data", f"tacit_{self.run.probe}", file_name(owner), file_name(own), str(number)
        )

    def write(self, folder: Path) -> Path:
        """Write the record and its rows; return the path of the record."""
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in self._rows()]
        content, path = self._content(), folder / f"{self.path}.json"
        if lines:
            rows = f"{self.path}_samples.jsonl"
            text = "".join(lines)
            publish_text(folder / rows, text)
            content["detailed_evaluation_results"] = {
                "format": "jsonl",
                "file_path": rows,
                "hash_algorithm": "sha256",
                "checksum": hashlib.sha256(text.encode()).hexdigest(),
                "total_rows": len(lines),
            }
        publish_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
        return path

    def _content(self) -> dict[str, Any]:
        run = self.run
        metrics = main_metrics(probe(run.probe), run.findings)
        results = [self._result(one) for one in metrics if one.entry.value is not None]
        if not results:
            raise RequestError(f"{run.name}: the run has no result to export")
        versions = run.manifest["versions"][-1]
        details = {
            "deployment_type": _UNKNOWN if self._served else "self_deployed",
            "model_availability": "open_weights" if "/" in self.model else _UNKNOWN,
            "elicitation": run.elicitation,
            "verdict": str(run.verdict or _UNKNOWN),
            "not_everything_is_asked": ", ".join(run.quick),
            **{
                name: str(run.model[name])
                for name in ("fingerprint", "revision", "dtype", "quantised")
                if run.model.get(name)
            },
        }
        return {
            "schema_version": SCHEMA,
            "evaluation_id": self.id,
            "evaluation_timestamp": str(run.manifest["started"]),
            "retrieved_timestamp": self.time,
            "source_metadata": {
                "source_name": "Tacit",
                "source_type": "evaluation_run",
                "source_organization_name": self.organization,
                "evaluator_relationship": self.relationship,
            },
            "eval_library": {"name": "tacit", "version": versions["tacit"]},
            "model_info": {
                "name": run.name,
                "id": self.model,
                "additional_details": details,
            },
            "evaluation_results": results,
        }

    def _result(self, metric: Metric) -> dict[str, Any]:
        headline, entry = metric.headline, metric.entry
        low, high = entry.ends
        uncertainty: dict[str, Any] = {} if metric.n is None else {"num_samples": int(metric.n)}
        if low is not None and high is not None:
            interval = {"lower": low, "upper": high, "confidence_level": _LEVEL}
            uncertainty["confidence_interval"] = interval
        chance = {} if entry.chance is None else {headline.baseline: str(entry.chance)}
        least, most = headline.scale
        return {
            "evaluation_result_id": f"{self.id}#{metric.name}",
            "evaluation_name": metric.name,
            "source_data": {
                "dataset_name": ", ".join(Path(name).name for name in self.run.data) or _UNKNOWN,
                "source_type": "other",
                "additional_details": {
                    Path(file).name: digest if isinstance(digest, str) else json.dumps(digest)
                    for file, digest in self.run.data.items()
                },
            },
            "metric_config": {
                "evaluation_description": headline.about,
                "metric_id": f"tacit.{metric.name.replace('/', '.')}",
                "metric_name": headline.label,
                "metric_unit": "proportion",
                "lower_is_better": headline.best == least,
                "score_type": "continuous",
                "min_score": least,
                "max_score": most,
                "additional_details": {
                    "best": "none" if headline.best is None else str(headline.best)
                },
            },
            "score_details": {
                "score": float(entry.value),
                "details": chance,
                "uncertainty": uncertainty,
            },
        }

    def _rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each answer that is known to be right or wrong."""
        for noun, table in probe(self.run.probe).sides(self.run.findings).items():
            name = f"{self.run.probe}/{noun.replace(' ', '_')}"
            keys = of_question(table)
            texts = self._texts(keys)
            for row in table.drop_nulls(["side", "right"]).iter_rows(named=True):
                key = {each: row[each] for each in keys}
                answer, right = row["side"], row["right"]
                correct = [str(answer if right else not answer)] if isinstance(answer, bool) else []
                reference = correct or [str(answer)] * right
                sample = json.dumps(key, ensure_ascii=False)
                raw = texts.get(tuple(key.values()), sample)
                yield {
                    "schema_version": SCHEMA,
                    "evaluation_id": self.id,
                    "model_id": self.model,
                    "evaluation_name": name,
                    "sample_id": sample,
                    "sample_hash": hashlib.sha256((raw + "".join(reference)).encode()).hexdigest(),
                    "interaction_type": "single_turn",
                    "input": {"raw": raw, "reference": reference},
                    "output": {"raw": [str(answer)]},
                    "answer_attribution": [
                        {
                            "turn_idx": 0,
                            "source": "output.raw",
                            "extracted_value": str(answer),
                            "extraction_method": self.run.elicitation,
                            "is_terminal": True,
                        }
                    ],
                    "evaluation": {"score": float(right), "is_correct": bool(right)},
                }

    def _texts(self, keys: list[str]) -> Mapping[tuple[Any, ...], str]:
        """Return the text of each prompt by its key; empty if the questions have other keys."""
        questions = self.run.questions
        if not {*keys, "text"} <= set(questions.columns):
            return {}
        rows = questions.select(*keys, "text").iter_rows()
        return {tuple(key): text for *key, text in rows}


def export(runs: tuple[Run, ...], folder: Path, organization: str, relationship: str) -> list[Path]:
    """Write a record for each run; return the paths of the records."""
    if folder.is_file():
        raise RequestError(f"{folder} is a file; expected a folder for the records")
    if not organization.strip():
        raise RequestError("--organization is empty: name who made the evaluation")
    now = str(int(time.time()))
    return [EvaluationRecord(run, organization, relationship, now).write(folder) for run in runs]
