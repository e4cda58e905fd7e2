"""Strategies for the inputs of models: texts, corpora, and a model with all its requests.

``tokspec fuzz`` draws from them, and ``tokspec.testing`` offers them to the tests of a port. Models are plain values in
the neutral form of ``fixtures/README.md``; :func:`tokspec.formats.write` writes them as files that tokenizers load.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, chain, pairwise, zip_longest
from typing import Any, TypeAlias

from hypothesis import strategies as st

from tokspec.compare.shrink import listed_tokens
from tokspec.formats.tiktoken_ranks import from_bytes, to_bytes
from tokspec.fuzz.characters import NAMES, ODD, ODD_TOKENS, ROWS
from tokspec.fuzz.drawing import chance, pick, pick_lists, pick_some, weighted
from tokspec.fuzz.families import FAMILIES, Generated, generated
from tokspec.fuzz.survey import Survey
from tokspec.suite.schema import operations as all_operations

Asked: TypeAlias = tuple[str, dict[str, Any]]
"""An operation and its input."""

_Model: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Example:
    """A model of a family, and all its requests."""

    family: str
    model: _Model
    requests: Sequence[Asked]


# Texts


def _in_text(token: str, model: _Model) -> str:
    """Return a token in the form that it has in a text."""
    if "byte_level" in str(model.get("pre_tokenizer", "")):
        found = to_bytes(token)
        return token if found is None else found.decode("utf-8", "ignore")
    prefix = model.get("continuing_prefix", "##") if model.get("type") == "wordpiece" else ""
    return token.removeprefix(prefix).replace("▁", " ")


def _damaged(special: Sequence[str]) -> list[str]:
    """Return texts that look like a special token and are not one, and special tokens within others."""
    found = []
    for whole in special:
        at = len(whole) // 2
        found += [whole[1:], whole[:-1], whole.upper(), whole.lower(), whole + "\u0301", f" {whole} ", f"{whole}\n"]
        found += [f"  {whole}", *(f"{whole[:at]}{invisible}{whole[at:]}" for invisible in "\u00ad\u200d")]
        for other in special:
            found += [whole[:at] + other + whole[at:], whole + other[1:], whole[:-1] + other]
    return found


#: Parts of texts that don't depend on the model.
_MORE = ("b", "A", "x", ".", "\u0301", "1", "\n")

#: Odd parts; in a list as long as this one, Hypothesis prefers the first two hundred.
_ODD = st.sampled_from(ODD)
_SOME_ODD = st.tuples(_ODD, _ODD, _ODD)


def _parts(tokens: Sequence[str], special: Sequence[str], symbols: str, odd: Sequence[str]) -> list[str]:
    """Return parts of texts: letters and tokens of a model, and for one in five something odd."""
    of_special = ((40, special), (30, _damaged(special))) if special else ()
    return weighted((70, symbols), (70, tokens), (22, " "), *of_special, (24, _MORE), (50, odd))


def _own_tokens(model: _Model) -> list[str]:
    special = _special_of(model)
    listed = [_in_text(token, model) for token in listed_tokens(model)[-40:] if token not in special]
    listed += [text for stage in ("normalizer", "pre_tokenizer") for text in _parameters(model.get(stage, {}))]
    return [text for text in listed if text]


#: Parameters of stages that may occur in a text literally.
_IN_TEXTS = ("string", "content", "delimiter", "replacement", "prefix", "suffix")


def _parameters(part: Any) -> Iterator[str]:
    """Return the strings that may occur in a text among the parameters of a stage or its members."""
    for key, value in part.items() if isinstance(part, Mapping) else enumerate(part) if isinstance(part, list) else ():
        if isinstance(value, str):
            yield from (value,) if key in _IN_TEXTS else ()
        else:
            yield from _parameters(value)


def _parts_for(draw: st.DrawFn, model: _Model, symbols: str) -> list[str]:
    return _parts(_own_tokens(model), _special_of(model), symbols, draw(_SOME_ODD))


def _special_of(model: _Model) -> list[str]:
    return [*model.get("special_tokens", ()), *(row["content"] for row in model.get("added_tokens", ()))]


_ALONE = st.lists(_ODD, max_size=8)

#: Two odd parts, x and y, next to letters.
_FRAMES = st.lists(
    st.tuples(
        st.sampled_from(
            (
                *("{a}{x}", "{x}{a}", "{a}{x}{b}", "{a}{x}{y}", "{x}{y}{a}", "{a}{x}{b}{y}", "{x}{a}{y}", "{a}{b}{x}"),
                *("{x}{a}{b}{y}", "{a} {x}{b}", "{a}{x} {b}", "{x} {y}", "{x}{x}{b}", "{a}{x}{y}{b}"),
            )
        ),
        _ODD,
        _ODD,
    ),
    max_size=7,
)


def _stretch(row: Sequence[str], start: int, length: int, glue: str) -> str:
    return glue.join(row[start : start + length])


#: Stretches of rows of similar parts.
_STRETCHES = st.lists(
    st.builds(
        _stretch,
        st.sampled_from(ROWS),
        st.integers(0, 63),
        st.integers(0, 64),
        st.sampled_from(("", "a", " ", "A")),
    ),
    max_size=3,
)


@cache
def _letters(symbols: str) -> st.SearchStrategy[tuple[list[str], list[str]]]:
    """Draw short and long texts of letters alone; without an unknown token, texts with anything odd are refused."""
    short, long = st.text(symbols, max_size=12), st.text(symbols, min_size=4, max_size=16)
    return st.tuples(st.lists(short, max_size=5), st.lists(long, max_size=4))


def _texts(draw: st.DrawFn, model: _Model, symbols: str) -> list[str]:
    short, long = draw(_letters(symbols))
    found = [*short, *long]  # the plainest come first, because no more are tried if a model is refused
    found += ["".join(parts) for parts in pick_lists(draw, _parts_for(draw, model, symbols), 5, 0, 8)]
    letters = {"a": symbols[0], "b": symbols[-1]}
    found += [frame.format(x=one, y=other, **letters) for frame, one, other in draw(_FRAMES)]
    found += draw(_ALONE)
    found += draw(_STRETCHES)
    return list(dict.fromkeys(found))


# Corpora

#: Counts: small ones that tie, others that do not, and those at the limits of 24, 31, 32 and 53 bits.
_COUNTS = (1, 1, 2, 1, 2, 3, 4, 5, 1, 2, 1, 3, 7, 12, 100, 0, 2**24 + 1, 2**31 - 1, 2**31, 2**32 + 1)

#: Counts that occur together in a corpus: only 0, and those that single precision, 31, 32 and 53 bits confuse.
_NEAR_COUNTS = (
    (0,),
    (0, 0, 2),
    (2**25 - 1, 2**25 - 2),
    (2**24 + 1, 2**24, 1),
    (2**31, 2**31 - 1, 1),
    (3 * 2**30 + 1, 2**32 + 1, 2**16),
    (2**53 - 1, 1, 2**52),
)

#: Words that look like prefixes or tokens, sort differently elsewhere, have several units, or are names that every
#: object has.
_ODD_WORDS = (
    *("#", "####", "##a", "a##b", "[UNK]", "Zz", "aZ", "é", "\U00010000", "\uffee", "👋🏽", "e\u0301", "\r\n", "a1"),
    *("b20", "c07", *NAMES, *ODD_TOKENS),
)
#: The most characters of a text in a corpus, because a model that is trained on longer ones exceeds a reply.
_LONGEST = 60


def _corpus(draw: st.DrawFn, model: _Model, symbols: str) -> dict[str, Any]:
    if chance(draw, 25):
        texts = pick_lists(draw, _parts_for(draw, model, symbols), 4)
        return {"texts": ["".join(parts)[:_LONGEST] for parts in texts]}
    parts = weighted((226, symbols), (20, _special_of(model)), (len(_ODD_WORDS), _ODD_WORDS))
    words = ["".join(some) for some in pick_lists(draw, parts, 9, 1, 8)]
    counts = pick(draw, ((_COUNTS,) * 9 + _NEAR_COUNTS))
    drawn = [(word, pick(draw, counts)) for word in words]
    totals = accumulate(count for _, count in drawn)  # for words that a normalizer makes equal; PROTO-7 bounds them
    return {"words": [[*row] for row, total in zip(drawn, totals, strict=True) if total < 2**53]}


# Requests


def _as_bytes(data: bytes) -> tuple[str, ...]:
    return tuple(f"<0x{byte:02X}>" for byte in data)


#: Bytes of characters, whole, in part and beyond the last one; overlong encodings, and bytes that never occur.
_CHARACTERS = [*(text.encode() for text in "é來😀\uffff\ufeff\U0001fffe"), "😀".encode()[:2], "😀".encode()[2:]]
_CHARACTERS += [b"\xc0\x80", b"\xe0\x9f\xbf", b"\xf0\x80\x80\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"]
_CHARACTERS += [b"\xc1\xbf", b"\xf5", b"\xe0\x80", b"\xff", b"\xe4\xbe"]

#: Tokens that a decoder may encounter, by its type, alone or in a row: marks, prefixes, bytes of characters.
_Decoded: TypeAlias = str | tuple[str, ...]
_DECODED: Mapping[str, Sequence[_Decoded]] = {
    "byte_level": (*map(from_bytes, _CHARACTERS), *("Ġ", "<é>", "<Ġa>", "<|Ġ|>", "中", "€", "\ud800")),
    "metaspace": ("▁", "▁▁", "▁▁a", "▁a", "a▁b", "▁▁a▁", "a▁▁b", "_", "_c", "__a_"),
    "wordpiece": (
        *("##b", "##", "@d", "a##", "##.", "##'s", "##\u0301", "[UNK]", ".", "!", "?", ",", "'", " c ", "do", "not"),
        *(" ' ", "a ' b", " '", "' ", "n't", " n't", "'m", "'s", "'ve", "'re", " 've", " 're", " .", " ?", " !", " ,"),
        *("a n't.b", " . .", " n't n't", " ' ' ", " ' .", "\u00a0.", " :"),
    ),
    "byte_fallback": (
        *("<0x61>", "<0x61>b", "<0xC3>", "<0xA9>", "<0xFF>", "<0x+A>", "<0x0a>", "<0x0A>", "<0xE4>", "a<0x61>"),
        *map(_as_bytes, _CHARACTERS),
    ),
    "bpe": ("a</w>", "</w>", "</w>a", "a</w></w>"),
    "sentencepiece": (
        *("▁", "▁a", "▁▁", "a▁", "a", "▁▁a▁", "<unk>", "<0xC3>", "<0xA9>", "▁ a"),
        *map(_as_bytes, _CHARACTERS),
    ),
}
_ANY_DECODED = ("a", "b", "", " ", "\U0001f600", "😀a", "\ufeff", "aa", " a", "a ", "a b", *chain(*_DECODED.values()))
_SINGLE_BYTES = [from_bytes(bytes([byte])) for byte in range(256)]

_FRACTION = st.sampled_from(
    (
        *(1.0, 0.5, 0.1, 0.15, 0.2, 0.25, 0.3, 0.34, 0.35, 0.45, 0.6, 0.7, 0.75, 0.9),
        *(0.33333333333333, 0.2499999999999),
    )
)


def _encoding(draw: st.DrawFn, model: _Model, symbols: str) -> Iterator[Asked]:
    staged = [op for op, key in (("normalize", "normalizer"), ("pre_tokenize", "pre_tokenizer")) if key in model]
    found = _texts(draw, model, symbols)
    if not staged and chance(draw, 15):
        staged = ["normalize", "pre_tokenize"]
    for text in found:
        yield from ((operation, {"text": text}) for operation in staged)
        if listed_tokens(model):
            yield "encode", {"text": text}
    if listed_tokens(model) and (model.keys() & _ASSEMBLED or chance(draw, 15)):
        yield from _assembling(draw, found)
    special = [*model.get("special_tokens", ())]
    special += [row["content"] for row in model.get("added_tokens", ()) if row.get("special", True)]
    if listed_tokens(model) and special and chance(draw, 50):
        some: Sequence[Any] = (None, "all", [], special[:1], special[1:], special[::-1])
        for drawn in pick_lists(draw, _parts_for(draw, model, symbols), 5, 0, 6):
            asked, allowed, disallowed = "".join(drawn), pick(draw, some), pick(draw, some)
            options = {"allowed_special": allowed, "disallowed_special": disallowed}
            given = {key: value for key, value in options.items() if value is not None}
            yield "encode", {"text": asked, **given}
            yield "encode", {"text": "a", "pair": asked, **given}
            yield "encode_batch", {"inputs": [{"text": asked}, {"text": "a"}], **given}
            ids = {"ids": _ids_of(model)[-2:]}
            yield "encode_parts", {"parts": [{"text": asked}, ids, {"text": asked, "trusted": True}]}


#: Components that act on whole encodings, for which requests have pairs, batches and no special tokens, too.
_ASSEMBLED = {"post_processor", "truncation", "padding", "added_tokens"}


def _assembling(draw: st.DrawFn, found: list[str]) -> Iterator[Asked]:
    plain = {"add_special_tokens": False} if chance(draw, 25) else {}
    for text, other in list(pairwise([*found, "a", "ab"]))[:4]:
        yield "encode", {"text": text, "pair": other, **plain}
        yield "encode", {"text": other, "add_special_tokens": False}
    rows = [{"text": text} for text in found[:3]]
    yield "encode_batch", {"inputs": rows, **plain}
    yield "encode_batch", {"inputs": [{"text": "ab", "pair": "a"}, *rows[:1]], **plain}


def _decoding(draw: st.DrawFn, model: _Model, symbols: str) -> Iterator[Asked]:
    listed = listed_tokens(model)
    if "decoder" not in model and not (listed and chance(draw, 50)):
        return
    streams = chance(draw, 50)
    skipping = {"skip_special_tokens": chance(draw, 75)} if chance(draw, 30) else {}
    own = [token for kind, tokens in _DECODED.items() if f"'{kind}'" in str(model.get("decoder")) for token in tokens]
    own += [part for text in _parameters(model.get("decoder", {})) for part in (text, f"{text}a", f"a{text}") * 3]
    plain = weighted((100, listed), (100, own), (56, _ANY_DECODED)) if listed or own else [*_ANY_DECODED]
    decoded = [*plain * 2, *_ANY_DECODED, *_SINGLE_BYTES]
    for parts in pick_lists(draw, decoded, 4, 0 if listed else 1, 5):  # without a model, an empty list tests nothing
        tokens = [token for each in parts for token in ((each,) if isinstance(each, str) else each)]
        yield "decode", {"tokens": tokens}
    if not listed:
        return
    is_of_bytes = model.get("decoder", {}).get("type") == "byte_level"
    for ids in pick_lists(draw, _ids(_ids_of(model)), 4, 0, 5):
        yield "decode", {"ids": ids}
        if is_of_bytes:
            yield "decode_bytes", {"ids": ids}
            yield "decode_with_offsets", {"ids": ids}
        if streams:
            yield "decode_stream", {"ids": ids, **skipping}
            yield from _streaming(draw, ids, [each for each in plain if isinstance(each, str)], skipping)
        if skipping:
            yield "decode", {"ids": ids, **skipping}


def _streaming(
    draw: st.DrawFn, ids: Sequence[int], tokens: Sequence[str], skipping: Mapping[str, bool]
) -> Iterator[Asked]:
    """Return requests for a stream with an end, with ids in steps, some of them a prompt, and for one with stops."""
    first, second = sorted((draw(st.integers(0, len(ids))), draw(st.integers(0, len(ids)))))
    steps = {"id_steps": [ids[first:second], [], *([id] for id in ids[second:])]}
    prompt = {"prompt": ids[:first]} if first else {}
    yield "decode_stream", {"ids": ids, "end": True, **skipping}
    yield "decode_stream", {**steps, **prompt, "end": True, "beside": ids[1:2], **skipping}
    one, other = draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens))
    stops = [text for text in (one[-1:] + other[:1], one, other[:1]) if text][: draw(st.integers(0, 3))]
    ending = {"stop_ids": ids[-1:]} if chance(draw, 25) else {}
    kept = {"keep_stop": True} if chance(draw, 50) else {}
    yield "decode_until", {**steps, **prompt, "stops": stops, **ending, **kept, **skipping}


def _ids_of(model: _Model) -> list[int]:
    """Return the ids of a model's tokens and added tokens."""
    entries = model.get("vocabulary", listed_tokens(model))
    listed = [place if isinstance(entry, str) else entry[1] for place, entry in enumerate(entries)]
    return [*listed, *(row["id"] for row in model.get("added_tokens", ()) if "id" in row)]


def _ids(ids: Sequence[int]) -> list[int]:
    """Return ids: of tokens, rarely just beyond the last one, and as rarely one that 32 bits cannot hold."""
    beyond = [max(ids) + more for more in range(1, 7)]
    return weighted((250, ids), (6, beyond), (6, [ids[0] + 2**32, ids[-1] + 2**32]))


#: The initial scores; most requests have none.
_INITIAL_SCORE = st.sampled_from((*({},) * 6, *({"initial_score": score} for score in (0, 1, 1, -2.5))))


def _segmenting(draw: st.DrawFn, model: _Model, symbols: str) -> Iterator[Asked]:
    """Return requests that inspect segmentations and losses; words are short, so all segmentations can be listed."""
    listed = listed_tokens(model)
    short = [token for token in listed if len(token) < 5]
    parts = weighted((150, symbols), (90, short), (16, ("x", ".", "!", "-")))
    for drawn in pick_lists(draw, parts, 5, 1, 5):
        word = "".join(drawn)[:8]
        yield "segment", {"word": word, **draw(_INITIAL_SCORE)}
        yield from ((operation, {"word": word}) for operation in ("viterbi", "segmentations"))
        yield "nbest", {"word": word, "nbest_size": draw(st.integers(0, 7))}
    if chance(draw, 50):
        words = pick_lists(draw, parts, 4, 1, 5)
        corpus = {"words": [["".join(word)[:8], draw(st.integers(0, 8))] for word in words]}
        yield "token_probabilities", {}
        yield "loss", {"corpus": corpus, **draw(_INITIAL_SCORE)}
        for token in pick_some(draw, [*listed, "nowhere"], 1, 4):
            yield "loss_increase", {"corpus": corpus, "token": token}
        yield "prune_step", {"corpus": corpus, "fraction": draw(_FRACTION)}


_CORPORA = st.sampled_from((0, 1, 2, 2, 3))


def _training(draw: st.DrawFn, model: _Model, symbols: str) -> Iterator[Asked]:
    for _ in range(draw(_CORPORA)):
        corpus = {"corpus": _corpus(draw, model, symbols)}
        yield "count_words", corpus
        for operation, more in _TRAINING[model["type"]](draw):
            yield operation, {**corpus, **more}


#: How many of the counted rows to return, how many training steps are done already, and the size of the trained model.
_FIRST = st.sampled_from((*({},) * 6, *({"first": count} for count in range(4))))
_STEPS = st.sampled_from((*({"steps": count} for count in range(12)), {"steps": -1}, {}, {}, {}))
_SIZE = st.integers(0, 21)


def _by_pairs(draw: st.DrawFn, pairs: str) -> Iterator[Asked]:
    steps = draw(_STEPS)
    yield "base_vocabulary", {}
    yield "training_state", steps
    yield "best_pair", steps
    yield pairs, {**{key: max(value, 0) for key, value in steps.items()}, **draw(_FIRST)}


_BPE_TARGET = st.sampled_from(
    [*({"vocabulary_size": size} for size in range(22)), *[{"merge_count": count} for count in range(9)] * 2]
)
_LEAST = st.sampled_from((*({},) * 5, *({"min_frequency": least} for least in (0, 0, 1, 2, 3))))


def _train_bpe(draw: st.DrawFn) -> Iterator[Asked]:
    target = {**draw(_BPE_TARGET), **draw(_LEAST)}
    yield from _by_pairs(draw, "pair_frequencies")
    yield from ((operation, target) for operation in ("train", "training_trace"))
    yield "train", {"merge_count": 12}


def _train_wordpiece(draw: st.DrawFn) -> Iterator[Asked]:
    target = {"vocabulary_size": draw(_SIZE)}
    yield from _by_pairs(draw, "pair_scores")
    yield from ((operation, target) for operation in ("train", "training_trace"))


def _train_unigram(draw: st.DrawFn) -> Iterator[Asked]:
    initial = {"initial_size": draw(st.integers(0, 30))}
    target = {**initial, "vocabulary_size": draw(st.integers(0, 15)), "fraction": draw(_FRACTION)}
    first = draw(_FIRST)
    yield "substring_frequencies", {}
    yield "ranked_substrings", first
    yield "initial_vocabulary", {**initial, **first}
    yield from ((operation, target) for operation in ("train", "training_trace"))


_TRAINING: Mapping[str, Callable[[st.DrawFn], Iterator[Asked]]] = {
    "bpe": _train_bpe,
    "wordpiece": _train_wordpiece,
    "unigram": _train_unigram,
}


def _asked(draw: st.DrawFn, model: _Model, symbols: str) -> Iterator[Asked]:
    if "type" in model and not listed_tokens(model):
        yield from _training(draw, model, symbols)
        if not chance(draw, 10):
            return
    yield from _encoding(draw, model, symbols)
    yield from _decoding(draw, model, symbols)
    if chance(draw, 30):
        yield "count_words", {"corpus": _corpus(draw, model, symbols)}
    if "tokens" in model:
        yield from _segmenting(draw, model, symbols)


@st.composite
def _draw_example(
    draw: st.DrawFn, families: tuple[str, ...], operations: frozenset[str], survey: Survey | None = None
) -> Example:
    family, model, symbols = draw(generated(families) if survey is None else _answered(families, survey))
    found = _asked(draw, model, symbols) if family != "broken" else ()
    requests = [asked for asked in found if asked[0] in operations]
    if not requests:  # a model that has to be refused, and the simplest example, need a request too
        wanted = ("encode",) if family == "broken" and "encode" in operations else ("normalize", "encode")
        wanted = wanted if listed_tokens(model) else ("normalize",)
        wanted = wanted if operations.intersection(wanted) else ("pre_tokenize",)
        requests = [(operation, {"text": symbols}) for operation in wanted if operation in operations]
    return Example(family, model, requests)


#: If something is refused, a usual pipeline is drawn one time in this number plus one.
_OFTEN_USUAL = 1


@st.composite
def _answered(draw: st.DrawFn, families: tuple[str, ...], survey: Survey) -> Generated:
    """Draw a model, and change it until it has no refused feature."""
    turn = draw(st.integers(0, 59))
    family, model, symbols = draw(generated(survey.open_families(families), _OFTEN_USUAL))
    return family, dict(survey.fit(family, model, turn)), symbols


@cache
def _examples(families: tuple[str, ...], operations: frozenset[str]) -> st.SearchStrategy[Example]:
    return _draw_example(families, operations)


def answered_examples(families: Sequence[str], operations: Sequence[str], survey: Survey) -> st.SearchStrategy[Example]:
    """Draw examples from what an implementation answered in a survey."""
    return _draw_example(tuple(families), frozenset(operations), survey)


def examples(
    families: Sequence[str] = tuple(FAMILIES), operations: Sequence[str] = all_operations()
) -> st.SearchStrategy[Example]:
    """Draw a model with all its requests for the given operations.

    >>> from hypothesis import given, settings
    >>> @settings(max_examples=10, database=None, derandomize=True)
    ... @given(examples(["bpe"], ["decode"]))
    ... def test_my_decoder(example):
    ...     for operation, input in example.requests:
    ...         assert input.keys() <= {"tokens", "ids", "skip_special_tokens"}
    >>> test_my_decoder()
    """
    return _examples(tuple(families), frozenset(operations))


def models(families: Sequence[str] = tuple(FAMILIES)) -> st.SearchStrategy[_Model]:
    """Draw models of the given families, which are keys of ``tokspec.fuzz.families.FAMILIES``.

    >>> from hypothesis import given, settings
    >>> @settings(max_examples=10, database=None, derandomize=True)
    ... @given(models(["bpe"]))
    ... def test_my_loader(model):
    ...     assert model["type"] == "bpe"
    >>> test_my_loader()
    """
    return generated(tuple(families)).map(lambda drawn: drawn[1])


@st.composite
def models_with_texts(draw: st.DrawFn, families: Sequence[str] = tuple(FAMILIES)) -> tuple[_Model, str]:
    """Draw a model and a text for it; one model in three is a whole pipeline, such as BERT's.

    >>> from hypothesis import given, settings
    >>> @settings(max_examples=10, database=None, derandomize=True)
    ... @given(models_with_texts(["wordpiece", "bpe"]))
    ... def test_my_tokenizer_loads_every_model(drawn):
    ...     model, text = drawn
    ...     assert model["type"] in ("wordpiece", "bpe")
    >>> test_my_tokenizer_loads_every_model()
    """
    foreign = draw(_FOREIGN)  # drawn first, so that they stay while the model shrinks
    _, model, symbols = draw(generated(tuple(families), 2))
    own = pick_some(draw, _parts(_own_tokens(model), _special_of(model), symbols, ()), 0, 8)
    return model, "".join(chain(*zip_longest(own, foreign, fillvalue="")))


#: Parts that don't depend on the model, odd ones and plainer ones.
_FOREIGN = st.lists(st.sampled_from([*(*_MORE, "é") * 20, *ODD]), max_size=3)


def texts(
    tokens: Sequence[str] = (), special_tokens: Sequence[str] = (), alphabet: str = "ab"
) -> st.SearchStrategy[str]:
    """Draw texts of tokens, letters and odd characters, and of special tokens whole, nested and damaged.

    >>> from hypothesis import given, settings
    >>> @settings(max_examples=10, database=None, derandomize=True)
    ... @given(texts(["hug", "##s"], ["<s>"]))
    ... def test_my_tokenizer_takes_every_text(text):
    ...     text.encode("utf-8", "surrogatepass")
    >>> test_my_tokenizer_takes_every_text()
    """
    plain = st.sampled_from(_parts(tokens, special_tokens, alphabet, ()))
    return st.lists(st.one_of(plain, _ODD), max_size=12).map("".join)


@st.composite
def corpora(draw: st.DrawFn, alphabet: str = "ab", special_tokens: Sequence[str] = ()) -> Mapping[str, Any]:
    """Draw corpora: words with counts, or texts.

    >>> from hypothesis import given, settings
    >>> @settings(max_examples=10, database=None, derandomize=True)
    ... @given(corpora())
    ... def test_my_trainer_takes_every_corpus(corpus):
    ...     assert corpus.keys() <= {"words", "texts"}
    >>> test_my_trainer_takes_every_corpus()
    """
    return _corpus(draw, {"special_tokens": list(special_tokens)}, alphabet)
