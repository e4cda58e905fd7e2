"""A user's model: its parts, its description in a recording, and the changes between two models."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose
from operator import itemgetter
from typing import Any, NamedTuple

from tokspec.base.display import compact, shorten
from tokspec.base.errors import DataError, Unsupported
from tokspec.formats.neutral import added_tokens_of, ids_of
from tokspec.formats.user_model import UserModel
from tokspec.judge.causes import count_common

#: The most characters of a setting that is shown in full; a longer one, such as a compiled table, is shown as its hash.
_LONGEST = 200

#: The keys of a neutral form whose entries are compared one by one, or counted.
_LISTS = ("vocabulary", "tokens", "merges", "special_tokens", "added_tokens", "scores", "piece_types")

#: The largest relative difference of scores that are the same in 32 bits.
_SINGLE = 1e-6

#: How many characters of a value are shown.
_SHOWN = 60

#: How many examples of a change are shown.
_EXAMPLES = 6


@dataclass(frozen=True)
class ModelParts:
    """Tokens by id, merges in order, special tokens by id, settings by path, and the scores of tokens that have one."""

    vocabulary: Mapping[int, str]
    merges: Sequence[Any]
    special: Mapping[int, str]
    settings: Mapping[str, Any]
    scores: Mapping[str, float] = field(default_factory=dict)


class Loaded(NamedTuple):
    """The content that a side loads, and its tokens by id, as far as they can be read."""

    content: Any
    tokens: Mapping[int, str]


def parts_of(model: UserModel) -> ModelParts:
    """Split a model into its parts; a model that cannot be read has none.

    >>> model = UserModel("vocab.txt", {"files": {"vocab.txt": "[UNK]\\nhug"}}, "bert.txt", "")
    >>> parts_of(model).vocabulary
    {0: '[UNK]', 1: 'hug'}
    """
    if model.format.startswith("tokenizer.json"):
        return _parts_of_object(model.content)
    try:
        neutral = model.neutral
    except Unsupported:
        return ModelParts({}, [], {}, {})
    return _parts_of_neutral(neutral, neutral)


def parts_of_two(a: UserModel, b: UserModel) -> tuple[ModelParts, ModelParts]:
    """Split two models into parts that can be compared: if their formats differ, the parts of their neutral forms."""
    if a.format != b.format:
        try:
            one, other = a.neutral, b.neutral
            return _parts_of_neutral(one, other), _parts_of_neutral(other, one)
        except Unsupported:
            pass
    return parts_of(a), parts_of(b)


def _parts_of_neutral(neutral: Mapping[str, Any], other: Mapping[str, Any]) -> ModelParts:
    """Split a neutral form into its parts; a stage that has another type in the other model is one setting."""
    vocabulary = tokens_by_id(neutral)
    special = {token["id"]: token["content"] for token in added_tokens_of(neutral) if token["id"] is not None}
    scores = dict(neutral.get("tokens", ()))
    if "scores" in neutral:
        scores = {_content(row): score for row, score in zip(neutral["vocabulary"], neutral["scores"], strict=True)}
    settings: dict[str, Any] = {}
    for key, value in neutral.items():
        if key not in _LISTS:
            is_like = _type(value) == _type(other.get(key))
            settings |= _flatten(value, f"{key}.") if is_like else {key: value}
    settings |= {"scores": f"sha256 {digest(neutral['scores'])}"} if "scores" in neutral else {}
    pieces = [f"{len(each)} {kind}" for kind, each in neutral.get("piece_types", {}).items()]
    settings |= {"pieces": ", ".join(pieces)} if pieces else {}
    return ModelParts(vocabulary, neutral.get("merges", []), special, settings, scores)


def _type(value: Any) -> Any:
    return value.get("type") if isinstance(value, Mapping) else None


def _content(row: Any) -> str:
    return str(row if isinstance(row, str) else row[0])


def tokens_by_id(neutral: Mapping[str, Any]) -> dict[int, str]:
    """Return the tokens of a model in the neutral form, by id.

    >>> tokens_by_id({"type": "unigram", "tokens": [["a", -1]]})
    {0: 'a'}
    >>> tokens_by_id({"type": "bpe", "vocabulary": [["b", 7]]})
    {7: 'b'}
    """
    return {id: token for token, id in ids_of(neutral).items()}


def _parts_of_object(content: Mapping[str, Any]) -> ModelParts:
    model = content["model"]
    vocab = model.get("vocab") or {}
    ids = {row[0]: id for id, row in enumerate(vocab)} if isinstance(vocab, list) else vocab
    vocabulary = {id: token for token, id in sorted(ids.items(), key=itemgetter(1))}
    added = [token for token in content.get("added_tokens") or [] if isinstance(token, dict)]
    special = {token["id"]: token["content"] for token in added}
    settings = {key: value for key, value in content.items() if key not in ("model", "added_tokens", "version")}
    settings["model"] = {key: value for key, value in model.items() if key not in ("vocab", "merges")}
    if isinstance(vocab, list):
        settings["model"]["scores"] = digest(vocab)
    flags = {f"added_tokens.{token['content']}": _flags(token) for token in added}
    merges = [merge.split(" ") if isinstance(merge, str) else merge for merge in model.get("merges") or []]
    scores = {row[0]: row[1] for row in vocab} if isinstance(vocab, list) else {}
    return ModelParts({**vocabulary, **special}, merges, special, {**_flatten(settings), **flags}, scores)


def _flags(token: Mapping[str, Any]) -> str:
    return " ".join(key for key, value in sorted(token.items()) if value is True)


def _flatten(value: Any, path: str = "") -> dict[str, Any]:
    """Return every setting by its path; long ones are replaced by their hashes."""
    if isinstance(value, Mapping | list) and value:
        items = value.items() if isinstance(value, Mapping) else enumerate(value)
        return {key: each for name, inner in items for key, each in _flatten(inner, f"{path}{name}.").items()}
    is_short = not isinstance(value, str) or len(value) <= _LONGEST
    return {path.removesuffix("."): value if is_short else f"sha256 {digest(value)}"}


def digest(value: Any) -> str:
    """Return the SHA-256 of a text, or of the JSON of a value.

    >>> digest({"a": 1})[:8]
    '015abd7f'
    """
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def summarize(model: UserModel) -> dict[str, Any]:
    """Return the description of a model for a recording: its file's name and hash, its sizes, hashes and settings."""
    parts = parts_of(model)
    return {
        "file": model.name,
        "format": model.format,
        "sha256": model.sha256,
        "vocabulary": {"size": len(parts.vocabulary), "sha256": digest(sorted(parts.vocabulary.items()))},
        "merges": {"size": len(parts.merges), "sha256": digest(list(parts.merges))},
        "special_tokens": {str(id): token for id, token in sorted(parts.special.items())},
        "settings": dict(parts.settings),
    }


def write_for(model: UserModel, accepted: Sequence[str], name: str) -> tuple[str, Any]:
    """Return a format and the content for an implementation, if possible in the file's own format.

    Raises:
        DataError: none of the accepted formats can express it.

    >>> write_for(UserModel("tokenizer.json", {"model": {}}, "t.json", ""), ["vocab.txt", "tokenizer.json"], "mine")
    ('tokenizer.json', {'model': {}})
    """
    reasons = []
    for format in model.ordered(accepted):
        try:
            return format, model.write(format)
        except Unsupported as refusal:
            reasons.append(refusal.message)
    raise DataError(f"cannot be given to {name}: {'; '.join(reasons) or 'it accepts no format'}", model.name)


def compare_models(a: ModelParts, b: ModelParts) -> list[str]:
    """Return a line for each kind of change; empty if nothing changed.

    >>> compare_models(ModelParts({0: "a", 1: "b"}, [], {}, {}), ModelParts({0: "b", 1: "c"}, [], {}, {}))
    ['vocabulary: 1 token in A alone: "a"', 'vocabulary: 1 token in B alone: "c"', 'ids: 1 token differs: "b" 1 → 0']
    """
    return [
        *_compare_vocabularies(_ids(a.vocabulary), _ids(b.vocabulary)),
        *_compare_merges([tuple(merge) for merge in a.merges], [tuple(merge) for merge in b.merges]),
        *_compare_scores(a.scores, b.scores),
        *_compare_values("special tokens: ", _ids(a.special), _ids(b.special)),
        *_compare_values("settings: ", _without_scores(a.settings), _without_scores(b.settings)),
    ]


def _without_scores(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the digest of all scores, because scores are compared one by one."""
    return {key: value for key, value in settings.items() if key not in ("scores", "model.scores")}


def _compare_scores(a: Mapping[str, float], b: Mapping[str, float]) -> Iterator[str]:
    """Compare scores in 32-bit precision, because some formats have no more."""
    for side, mine, other in (("A", a, b), ("B", b, a)):
        if mine and not other:
            yield f"scores: {len(mine)} tokens in {side} alone"
    differing = [token for token in a if token in b and not isclose(a[token], b[token], rel_tol=_SINGLE)]
    shown = [f"{compact(token)} {a[token]:.6g} → {b[token]:.6g}" for token in differing]
    yield from _counted("scores", "token", "differs" if len(differing) == 1 else "differ", shown)


def compare_summaries(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    """List the differences between two summaries; empty if they describe the same file."""
    if a["sha256"] == b["sha256"]:
        return []
    name, other = a["file"], b["file"]
    lines = [f"the content of {name} changed" if name == other else f"another file: {name} in A, {other} in B"]
    if "settings" not in a or "settings" not in b:  # a published pack gives only the name of its file
        return lines
    for part in ("vocabulary", "merges"):
        sizes = [side[part]["size"] for side in (a, b)]
        if a[part]["sha256"] == b[part]["sha256"]:
            lines.append(f"{part}: the same, {sizes[0]}")
        else:
            lines.append(f"{part}: not the same, {sizes[0]} in A, {sizes[1]} in B")
    lines += _compare_values("special token ", a["special_tokens"], b["special_tokens"])
    return lines + list(_compare_values("settings: ", a["settings"], b["settings"]))


def _ids(tokens: Mapping[int, str]) -> dict[str, int]:
    return {token: id for id, token in tokens.items()}


def _compare_vocabularies(a: Mapping[str, int], b: Mapping[str, int]) -> Iterator[str]:
    yield from _counted("vocabulary", "token", "in A alone", [compact(token) for token in a if token not in b])
    yield from _counted("vocabulary", "token", "in B alone", [compact(token) for token in b if token not in a])
    moved = [token for token in a if token in b and a[token] != b[token]]
    shown = [f"{compact(token)} {a[token]} → {b[token]}" for token in moved]
    yield from _counted("ids", "token", "differs" if len(moved) == 1 else "differ", shown)


def _compare_merges(a: Sequence[Hashable], b: Sequence[Hashable]) -> Iterator[str]:
    in_a, in_b = set(a), set(b)
    yield from _counted("merges", "merge", "in A alone", [compact(merge) for merge in a if merge not in in_b])
    yield from _counted("merges", "merge", "in B alone", [compact(merge) for merge in b if merge not in in_a])
    common = [merge for merge in a if merge in in_b], [merge for merge in b if merge in in_a]
    if common[0] != common[1]:
        first = next(left for left, right in zip(*common, strict=False) if left != right)
        yield f"merges: in another order, first at {compact(first)}"


def _compare_values(what: str, a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[str]:
    """Return a line for each value that differs; of many below one key, show the first ones in one line."""
    differing: dict[str, list[str]] = {}
    for key in dict.fromkeys([*a, *b]):
        if (key in a) != (key in b) or a.get(key) != b.get(key):
            above = key.partition(".")[0] if what.startswith("settings") else ""
            differing.setdefault(above, []).append(f"{key}: {' → '.join(_shown(a, b, key))}")
    for above, lines in differing.items():
        if len(lines) > _EXAMPLES:
            yield f"{what}{above}{': ' * bool(above)}{len(lines)} values differ: {', '.join(lines[:_EXAMPLES])} …"
        else:
            yield from (f"{what}{line}" for line in lines)


def _shown(a: Mapping[str, Any], b: Mapping[str, Any], key: str) -> list[str]:
    """Return both values; of long ones, the part in which they differ.

    >>> _shown({"pattern": "a" * 99 + "{1,3}"}, {"pattern": "a" * 99 + "{1,2}"}, "pattern")
    ['…aaaaaaaaaaaaaaaaa{1,3}"', '…aaaaaaaaaaaaaaaaa{1,2}"']
    """
    values = [compact(each[key]) if key in each else "nothing" for each in (a, b)]
    alike = count_common(*values) if max(map(len, values)) > _SHOWN else 0
    start = max(0, alike - 20)
    return [("…" if start and each != "nothing" else "") + shorten(each[start:], _SHOWN) for each in values]


def _counted(what: str, one: str, verb: str, shown: Iterable[str]) -> Iterator[str]:
    items = list(shown)
    if items:
        count = f"{len(items)} {one}{'' if len(items) == 1 else 's'}"
        yield f"{what}: {count} {verb}: {', '.join(items[:_EXAMPLES])}{' …' if len(items) > _EXAMPLES else ''}"
