"""Holding an implementation to a pack, record by record."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from tokspec.base.display import compact, shorten
from tokspec.formats.user_model import UserModel
from tokspec.packs.asking import Asker, in_batches
from tokspec.packs.findings import Findings
from tokspec.packs.judging import Judge
from tokspec.packs.reading import Pack
from tokspec.packs.record import OPERATIONS, Record
from tokspec.packs.summary import summary
from tokspec.suite.cases import Case

__all__ = ["checked", "held", "other_choices", "other_model", "other_settings"]

#: Choices that have no bearing on what a pack records.
_WITHOUT_BEARING = ("bpe_training_tie", "unigram_score_start", "offset_unit")

#: What others have a bearing on, by the first word of the choice: the types, one of which the model has to have.
_TYPES: Mapping[str, frozenset[str]] = {
    "bpe": frozenset({"bpe"}),
    "unigram": frozenset({"unigram"}),
    "metaspace": frozenset({"metaspace"}),
    "final": frozenset({"lowercase", "bert", "bertnormalizer"}),
}


def checked(
    pack: Pack,
    asker: Asker,
    unit: str,
    cases: Collection[Case],
    progress: Callable[[Record], None] = lambda record: None,
) -> Findings:
    """Ask about every record what the cases want, and give what it comes to.

    Raises:
        DataError: the pack is not as it was when it was looked through.
    """
    wanted = {case.id for case in cases}
    judge = Judge(asker.hello, unit, pack.header.choices.get("offset_unit", "code_point"))
    return held(pack.records(), asker, judge, wanted.__contains__, progress)


def held(
    records: Iterable[Record],
    asker: Asker,
    judge: Judge,
    wanted: Callable[[str], bool] = lambda case: True,
    progress: Callable[[Record], None] = lambda record: None,
) -> Findings:
    """Ask about every record what it has an answer to, and give what it comes to; ``wanted`` tells of cases by id."""
    findings = Findings()

    def is_wanted(record: Record, operation: str) -> bool:
        return record.says(operation) and wanted(f"{operation}/{record.section}")

    for batch in in_batches(records):
        for asked in asker.about(batch, OPERATIONS, is_wanted):
            findings.note(asked.record, judge.outcomes(asked))
            progress(asked.record)
    return findings


def other_choices(recorded: Mapping[str, str], declared: Mapping[str, str], settings: Mapping[str, Any]) -> list[str]:
    """Say which choices two declare otherwise, of those that bear on what a pack records with a model's settings.

    >>> choices = {"final_sigma": "plain"}, {"final_sigma": "contextual"}
    >>> other_choices(*choices, {"model.type": "BPE", "normalizer.type": "Lowercase"})
    ['final_sigma: plain in the pack, contextual here']
    >>> other_choices(*choices, {"model.type": "BPE"})
    []
    """
    types = {str(value).lower() for path, value in settings.items() if path.rpartition(".")[2] == "type"}
    return [
        f"{name}: {option} in the pack, {declared[name]} here"
        for name, option in recorded.items()
        if name not in _WITHOUT_BEARING and declared.get(name, option) != option and _bears(name, types)
    ]


def _bears(choice: str, types: Collection[str]) -> bool:
    """Whether a choice bears on a model with stages of some types; on one that is not known, all do."""
    wanted = _TYPES.get(choice.partition("_")[0])
    return not types or wanted is None or not wanted.isdisjoint(types)


def other_model(recorded: Mapping[str, Any], own: UserModel) -> list[str]:
    """Say how a model is another than the one of a pack; nothing if it is the same file."""
    if own.sha256 == recorded["sha256"]:
        return []
    here = summary(own)
    lines = [f"the model is another file: {own.name}, and the pack was made with {recorded['file']}"]
    for part, what in (("vocabulary", "tokens"), ("merges", "merges")):
        old, new = recorded.get(part, {}), here[part]
        if old.get("sha256") == new["sha256"]:
            counted = what.removesuffix("s") if new["size"] == 1 else what
            lines.append(f"its {part} {'is' if part == 'vocabulary' else 'are'} the same: {new['size']} {counted}")
        else:
            lines.append(f"other {part}: {old.get('size', 'unknown')} {what} in the pack, {new['size']} here")
    if recorded.get("format") == own.format:
        lines += other_settings(recorded.get("settings", {}), here["settings"])
        lines += other_settings(recorded.get("special_tokens", {}), here["special_tokens"], "special token ")
    return lines


def other_settings(recorded: Mapping[str, Any], here: Mapping[str, Any], what: str = "") -> list[str]:
    """Say which settings are others, each with what it was and is.

    >>> other_settings({"lowercase": True}, {"lowercase": False})
    ['lowercase: true in the pack, false here']
    """
    return [
        f"{what}{key}: {_shown(recorded, key)} in the pack, {_shown(here, key)} here"
        for key in dict.fromkeys([*recorded, *here])
        if recorded.get(key) != here.get(key)
    ]


def _shown(values: Mapping[str, Any], key: str) -> str:
    return shorten(compact(values[key]), 60) if key in values else "nothing"
