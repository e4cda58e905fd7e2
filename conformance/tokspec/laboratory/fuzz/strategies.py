"""What models are asked, as strategies: texts, corpora, and a model with all its requests.

They are what ``tokspec fuzz`` draws, and what ``tokspec.testing`` offers to the tests of a port. Models are plain
values in the neutral form of ``fixtures/README.md``; :func:`tokspec.formats.write` makes files of them that tokenizers
load.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise
from typing import Any, TypeAlias

from hypothesis import strategies as st

from tokspec.formats.tiktoken_ranks import from_bytes, to_bytes
from tokspec.laboratory.fuzz.characters import NAMES, ODD, ODD_TOKENS, ROWS
from tokspec.laboratory.fuzz.drawing import PLAIN, Draw, chance, coded, coded_lists, codes, maybe, number, pick, table
from tokspec.laboratory.fuzz.families import FAMILIES, Generated, generated
from tokspec.laboratory.fuzz.learning import Narrowing
from tokspec.laboratory.minimize import tokens_of
from tokspec.suite.schema import operations as all_operations

__all__ = ["Example", "corpora", "examples", "models", "models_with_texts", "narrowed_examples", "texts"]

Asked: TypeAlias = tuple[str, dict[str, Any]]
"""An operation and its input."""

_Model: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Example:
    """A model of a family, and all that it is asked."""

    family: str
    model: _Model
    requests: Sequence[Asked]


# Texts

#: Code points beyond the plain ones of a table of texts.
_TEXT_PLACES = PLAIN + len(ODD)


def _in_text(token: str, model: _Model) -> str:
    """Return a token in the form in which it stands in a text."""
    if "byte_level" in str(model.get("pre_tokenizer", "")):
        found = to_bytes(token)
        return token if found is None else found.decode("utf-8", "ignore")
    prefix = model.get("continuing_prefix", "##") if model.get("type") == "wordpiece" else ""
    return token.removeprefix(prefix).replace("▁", " ")


def _damaged(special: Sequence[str]) -> list[str]:
    """Return what may stand in the place of a special token and is not one, and special tokens within others."""
    found = []
    for whole in special:
        at = len(whole) // 2
        found += [whole[1:], whole[:-1], whole.upper(), whole.lower(), whole + "\u0301", f" {whole} ", f"{whole}\n"]
        found += [f"  {whole}", *(f"{whole[:at]}{invisible}{whole[at:]}" for invisible in "\u00ad\u200d")]
        for other in special:
            found += [whole[:at] + other + whole[at:], whole + other[1:], whole[:-1] + other]
    return found


def _text_table(tokens: Sequence[str], special: Sequence[str], symbols: str) -> list[str]:
    """Return what the codes of texts stand for: plain parts for a model, and odd ones behind them."""
    shares: list[tuple[int, Sequence[str]]] = [(70, symbols), (70, tokens), (22, " "), (40, special)]
    return [*table(*shares, (30, _damaged(special)), (24, ("b", "A", "x", ".", "\u0301", "1", "\n"))), *ODD]


def _own_tokens(model: _Model) -> list[str]:
    special = _special_of(model)
    listed = [_in_text(token, model) for token in tokens_of(model)[-40:] if token not in special]
    listed += [text for stage in ("normalizer", "pre_tokenizer") for text in _parameters(model.get(stage, {}))]
    return [text for text in listed if text]


#: Parameters of stages that may stand in a text as they are.
_IN_TEXTS = ("string", "content", "delimiter", "replacement", "prefix", "suffix")


def _parameters(part: Any) -> Iterator[str]:
    """Return what the parameters of a stage, or of its members, say of texts."""
    for key, value in part.items() if isinstance(part, Mapping) else enumerate(part) if isinstance(part, list) else ():
        if isinstance(value, str):
            yield from (value,) if key in _IN_TEXTS else ()
        else:
            yield from _parameters(value)


def _table_of(model: _Model, symbols: str) -> list[str]:
    return _text_table(_own_tokens(model), _special_of(model), symbols)


def _special_of(model: _Model) -> list[str]:
    return [*model.get("special_tokens", ()), *(row["content"] for row in model.get("added_tokens", ()))]


def _read(drawn: str, parts: Sequence[str]) -> str:
    return "".join([parts[code] for code in codes(drawn)])


#: A few letters with two odd parts out of all: each odd part is as likely as any.
_FRAMED = st.lists(st.tuples(coded(64, 1, 5), number(len(ODD) - 1), number(len(ODD) - 1)), max_size=7)

#: Odd parts by themselves.
_ALONE = st.lists(number(len(ODD) - 1), max_size=8)

#: Stretches of rows of parts that are alike: what glues them, the length, the start, and the row.
_STRETCHES = maybe(st.lists(st.tuples(number(3), number(64), number(63), number(len(ROWS) - 1)), max_size=6), 1)
_GLUES = ("", "a", " ", "A")


def _texts(draw: Draw, model: _Model, symbols: str) -> list[str]:
    parts = _table_of(model, symbols)
    found = [_read(drawn, parts) for drawn in draw(coded_lists(_TEXT_PLACES, 7))]
    if own := _own_tokens(model):  # texts with anything odd are refused where there is no unknown token
        plain = table((128, own), (128, symbols))
        found += [_read(drawn, plain) for drawn in draw(coded_lists(PLAIN, 6))]
    letters = (symbols * 40)[:40] + "  "
    for frame, *places in draw(_FRAMED):
        odd = [ODD[place] for place in places]
        found.append("".join(letters[code] if code < 42 else odd[code & 1] for code in codes(frame)))
    found += [ODD[place] for place in draw(_ALONE)]
    for glue, length, start, row in draw(_STRETCHES) or ():
        found.append(_GLUES[glue].join(ROWS[row][start : start + length]))
    return list(dict.fromkeys(found))


# Corpora

#: Counts: small ones that tie, others that do not, and those at which 24, 31, 32 and 53 bits end.
_COUNTS = (1, 1, 2, 1, 2, 3, 4, 5, 1, 2, 1, 3, 7, 12, 100, 0, 2**24 + 1, 2**31 - 1, 2**31, 2**32 + 1)

#: Counts of a corpus beside each other: none but 0, and those that single precision, 31, 32 and 53 bits confuse.
_NEAR_COUNTS = (
    (0,),
    (0, 0, 2),
    (2**25 - 1, 2**25 - 2),
    (2**24 + 1, 2**24, 1),
    (2**31, 2**31 - 1, 1),
    (3 * 2**30 + 1, 2**32 + 1, 2**16),
    (2**53 - 1, 1, 2**52),
)

#: Words that look like prefixes or tokens, sort otherwise elsewhere, are of several units, or name what objects have.
_ODD_WORDS = (
    *("#", "####", "##a", "a##b", "[UNK]", "Zz", "aZ", "é", "\U00010000", "\uffee", "👋🏽", "e\u0301", "\r\n", "a1"),
    *("b20", "c07", *NAMES, *ODD_TOKENS),
)
_COUNTED = st.lists(st.tuples(coded(PLAIN + len(_ODD_WORDS), 1, 8), number(len(_COUNTS) - 1)), max_size=9)

#: Characters of a text of a corpus: what is learned from longer ones is more than a reply holds.
_LONGEST = 60


def _corpus(draw: Draw, model: _Model, symbols: str) -> dict[str, Any]:
    if chance(draw, 25):
        parts = _table_of(model, symbols)
        return {"texts": [_read(drawn, parts)[:_LONGEST] for drawn in draw(coded_lists(_TEXT_PLACES, 4))]}
    parts = [*table((226, symbols), (20, _special_of(model)), (10, _ODD_WORDS)), *_ODD_WORDS]
    counts = pick(draw, ((_COUNTS,) * 9 + _NEAR_COUNTS))
    return {"words": [[_read(drawn, parts), counts[place % len(counts)]] for drawn, place in draw(_COUNTED)]}


# Requests


def _as_bytes(data: bytes) -> tuple[str, ...]:
    return tuple(f"<0x{byte:02X}>" for byte in data)


#: Bytes of characters, whole, in part and beyond the last one; and bytes that are written too long, or never stand.
_CHARACTERS = [*(text.encode() for text in "é來😀\uffff\ufeff\U0001fffe"), "😀".encode()[:2], "😀".encode()[2:]]
_CHARACTERS += [b"\xc0\x80", b"\xe0\x9f\xbf", b"\xf0\x80\x80\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"]
_CHARACTERS += [b"\xc1\xbf", b"\xf5", b"\xe0\x80", b"\xff", b"\xe4\xbe"]

#: Tokens that a decoder may meet, by its type, or several in a row: marks, prefixes, bytes of characters.
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

_FRACTIONS = (
    *(1.0, 0.5, 0.1, 0.15, 0.2, 0.25, 0.3, 0.34, 0.35, 0.45, 0.6, 0.7, 0.75, 0.9),
    *(0.33333333333333, 0.2499999999999),
)


def _encoding(draw: Draw, model: _Model, symbols: str) -> Iterator[Asked]:
    staged = [op for op, key in (("normalize", "normalizer"), ("pre_tokenize", "pre_tokenizer")) if key in model]
    found = _texts(draw, model, symbols)
    if not staged and chance(draw, 15):
        staged = ["normalize", "pre_tokenize"]
    for text in found:
        yield from ((operation, {"text": text}) for operation in staged)
        if tokens_of(model):
            yield "encode", {"text": text}
    if tokens_of(model) and (model.keys() & _ASSEMBLED or chance(draw, 15)):
        yield from _assembling(draw, found)
    special = [*model.get("special_tokens", ())]
    special += [row["content"] for row in model.get("added_tokens", ()) if row.get("special", True)]
    if tokens_of(model) and special and chance(draw, 50):
        parts = _table_of(model, symbols)
        for choices, drawn in draw(_SOME_ALLOWED):
            options = {
                "allowed_special": _some(special, choices % 6),
                "disallowed_special": _some(special, choices // 6),
            }
            given = {key: value for key, value in options.items() if value is not None}
            text = _read(drawn, parts)
            yield "encode", {"text": text, **given}
            yield "encode", {"text": "a", "pair": text, **given}
            yield "encode_batch", {"inputs": [{"text": text}, {"text": "a"}], **given}


#: What acts on whole encodings, which are asked in pairs, in batches and without added tokens then.
_ASSEMBLED = {"post_processor", "truncation", "padding", "added_tokens"}


_SOME_ALLOWED = st.lists(st.tuples(number(35), coded(PLAIN, 0, 6)), max_size=5)


def _some(special: Sequence[str], way: int) -> Any:
    """Return which special tokens are allowed, or not: not said, all, none, or some of them."""
    return (None, "all", [], special[:1], special[1:], special[::-1])[way]


def _assembling(draw: Draw, found: list[str]) -> Iterator[Asked]:
    plain = {"add_special_tokens": False} if chance(draw, 25) else {}
    for text, other in list(pairwise([*found, "a", "ab"]))[:4]:
        yield "encode", {"text": text, "pair": other, **plain}
        yield "encode", {"text": other, "add_special_tokens": False}
    rows = [{"text": text} for text in found[:3]]
    yield "encode_batch", {"inputs": rows, **plain}
    yield "encode_batch", {"inputs": [{"text": "ab", "pair": "a"}, *rows[:1]], **plain}


def _decoding(draw: Draw, model: _Model, symbols: str) -> Iterator[Asked]:
    listed = tokens_of(model)
    if "decoder" not in model and not (listed and chance(draw, 50)):
        return
    streams = chance(draw, 50)
    skipping = {"skip_special_tokens": chance(draw, 75)} if chance(draw, 30) else {}
    own = [token for kind, tokens in _DECODED.items() if f"'{kind}'" in str(model.get("decoder")) for token in tokens]
    own += [part for text in _parameters(model.get("decoder", {})) for part in (text, f"{text}a", f"a{text}") * 3]
    parts = [*table((100, listed), (100, own), (56, _ANY_DECODED)), *_ANY_DECODED, *_SINGLE_BYTES]
    numbers, is_of_bytes = _ids_of(model), model.get("decoder", {}).get("type") == "byte_level"
    for drawn in draw(coded_lists(len(parts), 9, 0, 6)):
        found = (parts[code] for code in codes(drawn))
        yield "decode", {"tokens": [token for part in found for token in ((part,) if isinstance(part, str) else part)]}
        if listed:
            ids = [_id(code, numbers) for code in codes(drawn)]
            yield "decode", {"ids": ids}
            if is_of_bytes:
                yield "decode_bytes", {"ids": ids}
                yield "decode_with_offsets", {"ids": ids}
            if streams:
                yield "decode_stream", {"ids": ids, **skipping}
            if skipping:
                yield "decode", {"ids": ids, **skipping}


def _ids_of(model: _Model) -> list[int]:
    """Return the ids of a model's tokens and added tokens."""
    entries = model.get("vocabulary", tokens_of(model))
    listed = [place if isinstance(entry, str) else entry[1] for place, entry in enumerate(entries)]
    return [*listed, *(row["id"] for row in model.get("added_tokens", ()) if "id" in row)]


def _id(code: int, ids: Sequence[int]) -> int:
    """Return an id: of a token, seldom just beyond the last one, and more seldom one that 32 bits do not hold."""
    if code < PLAIN:
        return ids[code % len(ids)] if code < 250 else max(ids) + code - 249
    return ids[code % len(ids)] + (2**32 if code % 8 == 0 else 0)


_UNIGRAM_WORDS = st.lists(st.tuples(coded(PLAIN, 1, 5), number(8)), max_size=4)


def _segmenting(draw: Draw, model: _Model, symbols: str) -> Iterator[Asked]:
    """Ask for what can be seen of segmentations and losses; words are so short that all segmentations can be listed."""
    listed = tokens_of(model)
    parts = [*table((150, symbols), (90, [token for token in listed if len(token) < 5]), (16, ("x", "."))), "!", "-"]
    for drawn in draw(coded_lists(len(parts), 5, 1, 5)):
        word = _read(drawn, parts)[:8]
        yield from ((operation, {"word": word}) for operation in ("segment", "viterbi", "segmentations"))
        yield "nbest", {"word": word, "nbest_size": len(drawn) * 3 % 8}
    if chance(draw, 50):
        corpus = {"words": [[_read(drawn, parts)[:8], count] for drawn, count in draw(_UNIGRAM_WORDS)]}
        yield "token_probabilities", {}
        yield "loss", {"corpus": corpus}
        for code in codes(draw(coded(64, 1, 4))):
            yield "loss_increase", {"corpus": corpus, "token": [*listed, "nowhere"][code % (len(listed) + 1)]}
        yield "prune_step", {"corpus": corpus, "fraction": pick(draw, _FRACTIONS)}


_SIZES = st.tuples(number(30), number(21), number(15), number(9))


def _training(draw: Draw, model: _Model, symbols: str) -> Iterator[Asked]:
    for _ in range(pick(draw, (0, 1, 2, 2, 3))):
        corpus = {"corpus": _corpus(draw, model, symbols)}
        yield "count_words", corpus
        for operation, more in _TRAINING[model["type"]](draw(_SIZES)):
            yield operation, {**corpus, **more}


_Sizes: TypeAlias = tuple[int, int, int, int]


def _first(sizes: _Sizes) -> dict[str, Any]:
    return {"first": sizes[3] - 6} if sizes[3] >= 6 else {}


def _by_pairs(sizes: _Sizes, pairs: str) -> Iterator[Asked]:
    steps = {} if sizes[2] > 12 else {"steps": sizes[2] if sizes[2] < 12 else -1}
    yield "base_vocabulary", {}
    yield "training_state", steps
    yield "best_pair", steps
    yield pairs, {**{key: max(value, 0) for key, value in steps.items()}, **_first(sizes)}


def _train_bpe(sizes: _Sizes) -> Iterator[Asked]:
    target = {"merge_count": sizes[1] % 9} if sizes[0] & 1 else {"vocabulary_size": sizes[1]}
    least = {"min_frequency": max(0, sizes[3] - 6)} if sizes[3] >= 5 else {}
    yield from _by_pairs(sizes, "pair_frequencies")
    yield from ((operation, {**target, **least}) for operation in ("train", "training_trace"))
    yield "train", {"merge_count": 12}


def _train_wordpiece(sizes: _Sizes) -> Iterator[Asked]:
    yield from _by_pairs(sizes, "pair_scores")
    yield from ((operation, {"vocabulary_size": sizes[1]}) for operation in ("train", "training_trace"))


def _train_unigram(sizes: _Sizes) -> Iterator[Asked]:
    fraction = _FRACTIONS[sizes[2] % len(_FRACTIONS)]
    target = {"initial_size": sizes[0], "vocabulary_size": sizes[1] % 16, "fraction": fraction}
    yield "substring_frequencies", {}
    yield "ranked_substrings", _first(sizes)
    yield "initial_vocabulary", {"initial_size": sizes[0], **_first(sizes)}
    yield from ((operation, target) for operation in ("train", "training_trace"))


_TRAINING: Mapping[str, Callable[[_Sizes], Iterator[Asked]]] = {
    "bpe": _train_bpe,
    "wordpiece": _train_wordpiece,
    "unigram": _train_unigram,
}


def _asked(draw: Draw, model: _Model, symbols: str) -> Iterator[Asked]:
    if "type" in model and not tokens_of(model):
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
    draw: Draw, families: tuple[str, ...], operations: frozenset[str], narrowing: Narrowing | None = None
) -> Example:
    family, model, symbols = draw(generated(families) if narrowing is None else _narrowed(families, narrowing))
    found = _asked(draw, model, symbols) if family != "broken" else ()
    requests = [asked for asked in found if asked[0] in operations]
    if not requests:  # a model that is to be refused, and the simplest example, are asked something too
        wanted = ("normalize", "encode") if tokens_of(model) else ("normalize",)
        wanted = wanted if operations.intersection(wanted) else ("pre_tokenize",)
        requests = [(operation, {"text": symbols}) for operation in wanted if operation in operations]
    return Example(family, model, requests)


#: What is narrowed down to what is answered begins from the usual pipelines one time in so many and one.
_OFTEN_USUAL = 1

#: Of so many and one examples those from a number on are of families of which too little is answered, and from another
#: number on of those of which nothing is.
_SELDOM, _LOW, _CLOSED = 9, 4, 8

#: What is to be avoided is put up with in so many of sixteen examples.
_SPARING = 3


@st.composite
def _narrowed(draw: Draw, families: tuple[str, ...], narrowing: Narrowing) -> Generated:
    """Draw a model, and change it until it is one that the narrowing expects to be answered."""
    is_seldom, turn = draw(number(_SELDOM)), draw(number(59))
    waiting = {*narrowing.closed, *(("broken",) if narrowing.is_early else ())}
    open_ones = tuple(family for family in families if family not in waiting)
    closed = tuple(family for family in families if family in narrowing.closed - narrowing.ruled_out)
    low = tuple(family for family in open_ones if family in narrowing.low)
    wanted = closed if is_seldom >= _CLOSED else low if is_seldom >= _LOW else ()
    wanted = wanted or open_ones or families
    family, model, symbols = draw(generated(wanted, _OFTEN_USUAL))
    spared = draw(number(63)) if draw(number(15)) > 15 - _SPARING else -1
    return family, dict(narrowing.mend(family, model, turn, spared)), symbols


@cache
def _examples(families: tuple[str, ...], operations: frozenset[str]) -> st.SearchStrategy[Example]:
    return _draw_example(families, operations)


def narrowed_examples(
    families: Sequence[str], operations: Sequence[str], narrowing: Narrowing
) -> st.SearchStrategy[Example]:
    """Draw examples that are expected to be answered."""
    return _draw_example(tuple(families), frozenset(operations), narrowing)


def examples(
    families: Sequence[str] = tuple(FAMILIES), operations: Sequence[str] = all_operations()
) -> st.SearchStrategy[Example]:
    """Draw a model with all that it is asked, of the operations given.

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
    """Draw models of the given families, which are keys of ``tokspec.laboratory.fuzz.families.FAMILIES``.

    >>> from hypothesis import given, settings
    >>> @settings(max_examples=10, database=None, derandomize=True)
    ... @given(models(["bpe"]))
    ... def test_my_loader(model):
    ...     assert model["type"] == "bpe"
    >>> test_my_loader()
    """
    return generated(tuple(families)).map(lambda drawn: drawn[1])


@st.composite
def models_with_texts(draw: Draw, families: Sequence[str] = tuple(FAMILIES)) -> tuple[_Model, str]:
    """Draw a model and a text that is made for it; one model in three is a whole pipeline, such as BERT's.

    >>> from hypothesis import given, settings
    >>> @settings(max_examples=10, database=None, derandomize=True)
    ... @given(models_with_texts(["wordpiece", "bpe"]))
    ... def test_my_tokenizer_loads_every_model(drawn):
    ...     model, text = drawn
    ...     assert model["type"] in ("wordpiece", "bpe")
    >>> test_my_tokenizer_loads_every_model()
    """
    drawn = draw(coded(_TEXT_PLACES))  # first, so that it stays while the model shrinks
    _, model, symbols = draw(generated(tuple(families), 2))
    return model, _read(drawn, _table_of(model, symbols))


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
    parts = _text_table(tokens, special_tokens, alphabet)
    return coded(_TEXT_PLACES).map(lambda drawn: _read(drawn, parts))


@st.composite
def corpora(draw: Draw, alphabet: str = "ab", special_tokens: Sequence[str] = ()) -> Mapping[str, Any]:
    """Draw corpora: words with counts, or texts.

    >>> from hypothesis import given, settings
    >>> @settings(max_examples=10, database=None, derandomize=True)
    ... @given(corpora())
    ... def test_my_trainer_takes_every_corpus(corpus):
    ...     assert corpus.keys() <= {"words", "texts"}
    >>> test_my_trainer_takes_every_corpus()
    """
    return _corpus(draw, {"special_tokens": list(special_tokens)}, alphabet)
