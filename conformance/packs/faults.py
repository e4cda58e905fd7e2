"""Faults of ports in the models of published tokenizers: how they are drawn from the files, and planted."""

from __future__ import annotations

import json
import re
import unicodedata
import zlib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from published import Published
from telling import patterns

import tokref
from tokfast import FastTokenizer
from tokref import Bpe, InputError, Tokenizer, Unigram, WordPiece
from tokref.post_processing import added_count

FAULTS = Path(__file__).with_name("faults.jsonl")

#: How many faults each tokenizer gets.
EACH = 40

Ids = list[int | None]
Input = Mapping[str, Any]


#: The kinds of faults in single entries of the vocabulary, and those that one text alone never shows.
OF_ENTRIES = frozenset(
    {
        "two merges swapped",
        "a merge lost",
        "two ids swapped",
        "a token lost",
        "a weight",
        "the character map",
        "a state kept",
    }
)


def draw(
    published: Published, seed: str = "faults", each: int = EACH, without: Container[str] = ()
) -> list[dict[str, Any]]:
    """Draw some faults of a tokenizer: of all kinds that it can have, in turn, and none twice."""
    random, faults = Random(f"{seed} of {published.name}"), list[dict[str, Any]]()
    neutral, tokenizer = published.model.neutral, published.tokenizer
    kinds = [
        kind for kind, draw in _DRAWN.items() if kind not in without and draw(neutral, tokenizer, random) is not None
    ]
    for number in range(each * 20):
        kind = kinds[number % len(kinds)]
        fault = {"tokenizer": published.name, "kind": kind, "what": _DRAWN[kind](neutral, tokenizer, random)}
        if fault not in faults and len(faults) < each:
            faults.append(fault)
    return faults


# What is drawn: of each kind one fault that the tokenizer can have, as a value of JSON; None where it can have none.


def _two_merges(neutral: Mapping[str, Any], tokenizer: Tokenizer, random: Random) -> Any:
    merges = tokenizer.model.merges if isinstance(tokenizer.model, Bpe) else ()
    if len(merges) < 1000:
        return None
    first = int(len(merges) * random.random() ** 2)
    return [first, min(len(merges) - 1, first + random.randint(1, 1 + first // 4))]


def _one_merge(neutral: Mapping[str, Any], tokenizer: Tokenizer, random: Random) -> Any:
    merges = tokenizer.model.merges if isinstance(tokenizer.model, Bpe) else ()
    return int(len(merges) * random.random() ** 2) if len(merges) > 1000 else None


def _one_token(neutral: Mapping[str, Any], tokenizer: Tokenizer, random: Random) -> Any:
    assert tokenizer.model is not None
    tokens = tokenizer.model.vocabulary
    if isinstance(tokenizer.model, Bpe) and tokenizer.model.merges:
        return None  # merges would make a token that is not there
    return random.choice([*tokens])


def _two_ids(neutral: Mapping[str, Any], tokenizer: Tokenizer, random: Random) -> Any:
    assert tokenizer.model is not None
    tokens = [*tokenizer.model.vocabulary]
    first = int(len(tokens) * random.random() ** 2)
    return [tokens[first], tokens[min(len(tokens) - 1, first + 1)]]


def _a_weight(neutral: Mapping[str, Any], tokenizer: Tokenizer, random: Random) -> Any:
    model = tokenizer.model
    weights = model.weights if isinstance(model, Unigram) else model.scores if isinstance(model, Bpe) else None
    return [random.choice([*weights]), random.choice([-2.0, 2.0])] if weights else None


def _a_switch(neutral: Mapping[str, Any], tokenizer: Tokenizer, random: Random) -> Any:
    """A switch of the model, with its other value."""
    model = tokenizer.model
    if isinstance(model, WordPiece):
        return ["max_word_length", random.choice([model.max_word_length // 2, model.max_word_length + 1])]
    if "byte_level" in json.dumps(neutral.get("pre_tokenizer")):
        return None  # every byte is a token, so that none is unknown
    name = random.choice(["byte_fallback", "fuse_unk"] if isinstance(model, Bpe) else ["byte_fallback"])
    return [name, not getattr(model, name)]


#: What ports do to a pattern: what stands in it, and what they write.
_REWRITES = (
    (r"\p{L}", "[A-Za-z]"), (r"\p{L}", r"[\p{Lu}\p{Ll}]"), (r"\p{N}", "[0-9]"), (r"\p{N}", r"\p{Nd}"), (r"\p{M}", ""),
    (r"\p{Lm}", ""), (r"\p{Lo}", ""), (r"\p{Lt}", ""), (r"\p{P}", "[!-/:-@]"), (r"\p{S}", r"\p{Sm}"), (r"\s", " "),
    (r"\s", r"[ \t\n\r\f\v]"), ("(?i:", "(?:"), (r"(?!\S)", ""), ("{1,3}", "+"), ("{1,3}", "{1,2}"), (r"[\r\n]*", ""),
    (r"[\r\n/]*", r"[\r\n]*"), (r"[\r\n]+", r"\n+"), (" ?", ""), (r"\p{Han}", "[\u4e00-\u9fff]"), ("?", ""),
    ("+", "{1,9}"),
)  # fmt: skip


def _a_pattern(neutral: Mapping[str, Any], tokenizer: Tokenizer, random: Random) -> Any:
    found = list(patterns(neutral.get("pre_tokenizer")))
    ways: list[list[str]] = []
    for pattern in found:
        for wanted, written in _REWRITES:
            for place in _places(pattern, wanted):
                ways.append([pattern, pattern[:place] + written + pattern[place + len(wanted) :]])
        alternatives = _alternatives(pattern)
        for gone in range(len(alternatives) if len(alternatives) > 1 else 0):
            ways.append([pattern, "|".join(alternatives[:gone] + alternatives[gone + 1 :])])
        for first in range(len(alternatives) - 1):
            swapped = [*alternatives[:first], alternatives[first + 1], alternatives[first], *alternatives[first + 2 :]]
            ways.append([pattern, "|".join(swapped)])
    return random.choice(ways) if ways else None


def _places(text: str, wanted: str) -> list[int]:
    return [found.start() for found in re.finditer(re.escape(wanted), text)]


def _alternatives(pattern: str) -> list[str]:
    """Return the alternatives of a pattern, cut at the bars that stand in no group and in no class."""
    found, depth, is_escaped = [""], 0, False
    for character in pattern:
        if character == "|" and not depth and not is_escaped:
            found.append("")
            continue
        depth += (character in "([") * (not is_escaped) - (character in ")]") * (not is_escaped)
        is_escaped = character == "\\" and not is_escaped
        found[-1] += character
    return found


def _a_part(stage: str) -> Callable[[Mapping[str, Any], Tokenizer, Random], Any]:
    """Draw a change of a stage: a part of it left out, or a truth value in it turned."""

    def draw(neutral: Mapping[str, Any], tokenizer: Tokenizer, random: Random) -> Any:
        component = neutral.get(stage)
        ways = [["left out", *path] for path in _parts(component)] if component else []
        ways += [["turned", *path] for path in _switches(component)]
        ways += [["prepend_scheme", *path] for path in _schemes(component)]
        return random.choice(ways) if ways else None

    return draw


def _parts(component: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    for key, value in component.items():
        if isinstance(value, list | tuple) and value and isinstance(value[0], Mapping) and "type" in value[0]:
            for number, part in enumerate(value):
                yield from _parts(part, (*path, key, number))


def _switches(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, bool):
        yield path
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list | tuple) else ()
    for key, inner in items:
        yield from _switches(inner, (*path, key))


def _schemes(value: Any) -> Iterator[tuple[Any, ...]]:
    for path in _parts(value) if value else ():
        if "prepend_scheme" in _at(value, path):
            yield (*path, "prepend_scheme")


def _at(value: Any, path: Sequence[Any]) -> Any:
    for key in path:
        value = value[key]
    return value


def _a_mapping(neutral: Mapping[str, Any], tokenizer: Tokenizer, random: Random) -> Any:
    """One entry of a character map, whose replacement is another."""
    component = tokenizer.normalizer
    content = component.parameters.get("charsmap") if component else None
    if not content or not getattr(content, "replacements", b""):
        return None
    letters = [place for place, byte in enumerate(content.replacements) if 97 <= byte <= 121]
    return random.choice(letters) if letters else None


def _an_added_token(neutral: Mapping[str, Any], tokenizer: Tokenizer, random: Random) -> Any:
    tokens = tokenizer.added_tokens
    if not tokens:
        return None
    token = random.choice(tokens[:40])
    what = random.choice(["lost", "lstrip", "rstrip", "single_word", "normalized", "any case", "lost of its kind"])
    return [what, token.content]


def _a_post_processor(neutral: Mapping[str, Any], tokenizer: Tokenizer, random: Random) -> Any:
    return random.choice([*_POSTED]) if added_count(tokenizer.post_processor, 1) else None


#: Ways in which ports change a text before they encode it.
_TEXTS: Mapping[str, Callable[[str], str]] = {
    "what is beyond the BMP is lost": lambda text: re.sub("[\U00010000-\U0010ffff]", "\ufffd", text),
    "a zero ends the text": lambda text: text.partition("\0")[0],
    "white space at the end is stripped": str.rstrip,
    "white space at the start is stripped": str.lstrip,
    "lines end with LF": lambda text: text.replace("\r\n", "\n"),
    "NFC": lambda text: unicodedata.normalize("NFC", text),
    "NFKC": lambda text: unicodedata.normalize("NFKC", text),
    "a byte order mark is dropped": lambda text: text.replace("\ufeff", ""),
    "variation selectors are dropped": lambda text: re.sub("[\ufe00-\ufe0f]", "", text),
    "two spaces are one": lambda text: text.replace("  ", " "),
    "no-break spaces are spaces": lambda text: text.replace("\xa0", " "),
    "joiners are dropped": lambda text: re.sub("[\u200b-\u200d]", "", text),
    "control characters are dropped": lambda text: re.sub("[\x01-\x08\x0e-\x1f]", "", text),
    "private characters are dropped": lambda text: re.sub("[\ue000-\uf8ff]", "", text),
}  # fmt: skip

#: Ways in which ports change ids.
_IDS: Mapping[str, Callable[[list[int | None]], list[int | None]]] = {
    "ids have 16 bits": lambda ids: [id if id is None else id & 0xFFFF for id in ids],
    "ids have 15 bits and a sign": lambda ids: [id if id is None else id - 65536 * (id % 65536 > 32767) for id in ids],
    "at most 32 tokens": lambda ids: ids[:32],
    "at most 48 tokens": lambda ids: ids[:48],
    "a token that stands four times stands three times": lambda ids: [
        id for place, id in enumerate(ids) if ids[max(0, place - 3) : place] != [id] * 3
    ],
}  # fmt: skip

#: The least id that a way changes, where it leaves small ones as they are.
_LARGEST = {"ids have 16 bits": 65536, "ids have 15 bits and a sign": 32768}

#: What ports keep between texts by a key that is not enough, and give again.
_KEPT: Mapping[str, Callable[[str], Any]] = {
    "kept by lower case": str.lower,
    "kept by length and first eight": lambda text: (len(text), text[:8]),
    "kept by a sum of 12 bits": lambda text: zlib.crc32(text.encode("utf-8", "surrogatepass")) & 0xFFF,
    "kept by what is not white space": lambda text: "".join(text.split()),
    "kept by its bytes of ASCII": lambda text: re.sub(r"[^\0-\x7f]", "", text) or text,
    "kept by its last 16": lambda text: text[-16:],
}  # fmt: skip


def _of_ids(neutral: Mapping[str, Any], tokenizer: Tokenizer, random: Random) -> str:
    """A way that changes an id that the vocabulary has."""
    largest = max(tokenizer.vocabulary.values())
    return random.choice([way for way in _IDS if largest >= _LARGEST.get(way, 0)])


def _of(ways: Mapping[str, Any]) -> Callable[[Mapping[str, Any], Tokenizer, Random], Any]:
    return lambda neutral, tokenizer, random: random.choice([*ways])


_DRAWN: Mapping[str, Callable[[Mapping[str, Any], Tokenizer, Random], Any]] = {
    "two merges swapped": _two_merges,
    "a pattern otherwise": _a_pattern,
    "a merge lost": _one_merge,
    "the normalizer": _a_part("normalizer"),
    "two ids swapped": _two_ids,
    "an added token": _an_added_token,
    "a token lost": _one_token,
    "the pre-tokenizer": _a_part("pre_tokenizer"),
    "a weight": _a_weight,
    "the decoder": _a_part("decoder"),
    "a switch of the model": _a_switch,
    "the text": _of(_TEXTS),
    "the character map": _a_mapping,
    "a state kept": _of(_KEPT),
    "the post-processor": _a_post_processor,
    "the ids": _of_ids,
}


# What a fault does


@dataclass(frozen=True)
class Faulty:
    """A port with a fault: its tokenizer, what it does to texts and ids, and which texts can show it.

    ``needles`` are bytes one of which a text must have, ``shows`` tells it of a text that is normalized, and ``stage``
    says where the fault is. A port with a ``key`` gives for a text what it gave for the first one with the same key.
    """

    fast: FastTokenizer
    stage: str = "model"
    text: Callable[[str], str] = str
    ids: Callable[[Ids], Ids] = list
    post: Callable[[Ids, Ids, Ids], Ids] = lambda before, ids, behind: [*before, *ids, *behind]
    types: Callable[[list[int]], list[int]] = list
    key: Callable[[str], Any] | None = None
    needles: tuple[bytes, ...] = ()
    shows: Callable[[str], bool] = lambda text: True

    def answer(self, input: Input) -> tuple[Ids, list[int], str]:
        """Return the ids and type ids of a text or a pair, and what they are decoded to if the decoder is at fault."""
        texts = [self.text(input["text"]), *([self.text(input["pair"])] if "pair" in input else [])]
        types: list[int] = []
        if len(texts) == 1 and not input.get("add_special_tokens"):
            ids = self.ids(self.fast.encode_ids(texts[0]))
        else:
            (encoding,) = self.fast.encode_inputs([texts], add_special_tokens=input.get("add_special_tokens", True))
            places = [place for place, token in enumerate(encoding.tokens) if token.sequence is not None] or [0]
            all_ids, first, end = [token.id for token in encoding.tokens], places[0], places[-1] + 1
            ids = self.post(all_ids[:first], self.ids(all_ids[first:end]), all_ids[end:])
            types = self.types([token.type_id for token in encoding.tokens]) if "pair" in input else []
        text = (
            self.fast.decode(self.fast.tokens_of(id for id in ids if id is not None)) if self.stage == "decoder" else ""
        )
        return ids, types, text


def plant(fault: Mapping[str, Any], published: Published) -> Faulty:
    """Return the port with a fault.

    Raises:
        InputError: the model would be refused.
    """
    kind, what, fast = fault["kind"], fault["what"], published.fast
    neutral, tokenizer = published.model.neutral, published.tokenizer
    model: Any = tokenizer.model

    def with_model(shown: Iterable[str], **changes: Any) -> Faulty:
        changed = replace(tokenizer, model=replace(model, **changes))
        return Faulty(FastTokenizer(changed, fast.choices), needles=tuple(_needle(each, fast) for each in shown))

    def with_stage(stage: str, component: Any) -> Faulty:
        changed = _alike(replace(tokenizer, **{stage: component}), fast)
        return Faulty(changed, stage="decoder" if stage == "decoder" else "pieces")

    match kind:
        case "two merges swapped":
            merges = [*model.merges]
            first, second = what
            merges[first], merges[second] = merges[second], merges[first]
            return with_model(["".join(merges[each]) for each in what], merges=tuple(merges))
        case "a merge lost":
            return with_model(["".join(model.merges[what])], merges=model.merges[:what] + model.merges[what + 1 :])
        case "a token lost":
            return with_model([what], **{name: _without(getattr(model, name), what) for name in _held(model)})
        case "two ids swapped":
            first, second = what
            ids = {**model.vocabulary, first: model.vocabulary[second], second: model.vocabulary[first]}
            return with_model(what, **{"ids" if isinstance(model, Unigram) else "vocabulary": ids})
        case "a weight":
            token, more = what
            name = "weights" if isinstance(model, Unigram) else "scores"
            weights = getattr(model, name)  # the scores of merges are their ranks
            return with_model(
                [token], **{name: {**weights, token: weights[token] + more * (1 if name == "weights" else 1000)}}
            )
        case "a switch of the model":
            name, value = what
            least = min(value, model.max_word_length) if name == "max_word_length" else 0
            found = with_model([], **{name: value})
            known = {character for token in model.vocabulary for character in token}
            return replace(found, shows=lambda text: len(text) > least if least else not known.issuperset(text))
        case "a pattern otherwise":
            return with_stage("pre_tokenizer", _stage("pre_tokenizer", _with_pattern(neutral["pre_tokenizer"], *what)))
        case "the normalizer" | "the pre-tokenizer" | "the decoder":
            stage = kind.partition(" ")[2].replace("-", "_")
            return with_stage(stage, _stage(stage, _changed(neutral[stage], *what)))
        case "the character map":
            component: Any = tokenizer.normalizer
            content = component.parameters["charsmap"]
            old = content.replacements
            changed = replace(content, replacements=old[:what] + bytes([old[what] + 1]) + old[what + 1 :])
            return with_stage(
                "normalizer", replace(component, parameters={**component.parameters, "charsmap": changed})
            )
        case "an added token":
            return _with_added(tokenizer, fast, *what)
        case "the post-processor":
            return replace(Faulty(fast, stage="post"), **_POSTED[what])
        case "the text":
            return Faulty(fast, stage="text", text=_TEXTS[what])
        case "the ids":
            return Faulty(fast, ids=_IDS[what], shows=_LONG.get(what, lambda text: True))
    return Faulty(fast, key=_KEPT[what])


def _alike(tokenizer: Tokenizer, fast: FastTokenizer) -> FastTokenizer:
    """Prepare a tokenizer with the tables of another one, which has the same model."""
    found = FastTokenizer(tokenizer, fast.choices)
    vars(found)["_encoder"] = fast._encoder
    return found


def _held(model: Any) -> list[str]:
    """Return the fields of a model that have its tokens."""
    return [name for name in ("vocabulary", "weights", "ids", "scores") if name in vars(model) and vars(model)[name]]


def _without(tokens: Mapping[str, Any], token: str) -> dict[str, Any]:
    return {each: value for each, value in tokens.items() if each != token}


def _needle(token: str, fast: FastTokenizer) -> bytes:
    """Return the bytes that a text must have for a token to be made of it."""
    try:
        written = b"".join(fast.decode_tokens_bytes([fast.tokenizer.vocabulary[token]]))
    except (KeyError, InputError):
        written = token.encode()
    return written.removeprefix(b"##").replace("▁".encode(), b" ").strip(b" ")


def _stage(stage: str, component: Any) -> Any:
    return getattr(tokref.from_mapping({stage: component}), stage) if component else None


def _with_pattern(component: Any, old: str, new: str) -> Any:
    if component["type"] == "sequence":
        return {**component, "pre_tokenizers": [_with_pattern(each, old, new) for each in component["pre_tokenizers"]]}
    if component.get("pattern", {}).get("regex") == old:
        return {**component, "pattern": {"regex": new}}
    if component["type"] == "byte_level" and component.get("use_regex", True):
        cut = {"type": "split", "pattern": {"regex": new}, "behavior": "isolated", "invert": False}
        return {"type": "sequence", "pre_tokenizers": [cut, {**component, "use_regex": False}]}
    return component


def _changed(component: Any, how: str, *path: Any) -> Any:
    if not path:
        return None
    changed = json.loads(json.dumps(component))
    holder, last = _at(changed, path[:-1]), path[-1]
    if how == "left out":
        del holder[last]
    elif how == "turned":
        holder[last] = not holder[last]
    else:
        holder[last] = {"always": "first", "first": "never", "never": "always"}[holder[last]]
    return changed


def _with_added(tokenizer: Tokenizer, fast: FastTokenizer, what: str, content: str) -> Faulty:
    if what == "any case":
        found = re.compile(re.escape(content), re.IGNORECASE)
        return Faulty(fast, stage="text", text=lambda text: found.sub(lambda _: content, text))
    tokens = tokenizer.added_tokens
    special = next(token.special for token in tokens if token.content == content)
    if what == "lost":
        kept = tuple(token for token in tokens if token.content != content)
    elif what == "lost of its kind":
        kept = tuple(token for token in tokens if token.special != special)
    else:
        turned: dict[str, Any] = {what: not next(getattr(each, what) for each in tokens if each.content == content)}
        kept = tuple(replace(each, **turned) if each.content == content else each for each in tokens)
    lost = {token.content for token in tokens} - {token.content for token in kept} or {content}
    changed = _alike(replace(tokenizer, added_tokens=kept), fast)
    return Faulty(changed, stage="added", needles=tuple(each.encode() for each in sorted(lost)))


_POSTED: Mapping[str, Mapping[str, Any]] = {
    "nothing is added": {"post": lambda before, ids, behind: ids},
    "added twice": {"post": lambda before, ids, behind: [*before, *before, *ids, *behind, *behind]},
    "at the wrong end": {"post": lambda before, ids, behind: [*ids, *before, *behind]},
    "type ids are 0": {"types": lambda types: [0] * len(types)},
    "type ids begin at 1": {"types": lambda types: [each + 1 for each in types]},
}

#: Which texts can show a fault of ids.
_LONG: Mapping[str, Callable[[str], bool]] = {
    "at most 32 tokens": lambda text: len(text.encode("utf-8", "surrogatepass")) > 32,
    "at most 48 tokens": lambda text: len(text.encode("utf-8", "surrogatepass")) > 48,
    "a token that stands four times stands three times": lambda text: bool(re.search(r"(.{1,8})\1\1\1", text, re.S)),
}
