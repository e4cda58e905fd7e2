"""The values that the chapters work on: tokens, models, and the tokenizer around a model.

A model is data and nothing else; the chapters hold what is done with it. :mod:`tokref.reading` makes these values from
plain ones and refuses those that contradict themselves, so no chapter checks a model again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from tokref.errors import InputError

Pair = tuple[str, str]
"""Two tokens that are side by side."""

Words = Mapping[str, int]
"""Every word of a corpus with its count, in the order in which each is first met."""


Character = Annotated[str, "one character"]
"""A parameter of a component that is one character."""

Positive = Annotated[int, "from 1"]
"""A parameter of a component that is an integer above 0; others are integers from 0."""


class Token(NamedTuple):
    """A token of an encoded text, its id (None if it has no entry), and its span in the input in code points."""

    text: str
    id: int | None
    start: int
    end: int


class EncodedToken(NamedTuple):
    """A token of a result of encoding. Its span counts in its text, and what is in no text has [0, 0] (POST-5).

    ``is_special`` and ``is_attended`` are its entries of the masks, ``word`` the number of its piece, and ``sequence``
    that of its text; both are None where it is in no text. ``is_added`` says that it was found as an added token.
    """

    text: str
    id: int | None
    start: int
    end: int
    type_id: int = 0
    is_special: bool = False
    is_attended: bool = True
    word: int | None = None
    sequence: int | None = None
    is_added: bool = False


@dataclass(frozen=True)
class Encoding:
    """The tokens of an input, and the parts of it that truncation cut off, each with what the post-processor adds."""

    tokens: tuple[EncodedToken, ...]
    overflowing: tuple[Encoding, ...] = ()


def number_tokens(tokens: Iterable[str]) -> dict[str, int]:
    """Return the vocabulary in which each token has its position as id (TERM-9).

    >>> number_tokens(["b", "g"])
    {'b': 0, 'g': 1}
    """
    return {token: position for position, token in enumerate(tokens)}


Kind = Literal["control", "user_defined", "unused", "byte", "unknown", "not_allowed"]
"""What a token is that is not ordinary: a type of piece (SP-TYPE-1), or a special token that is text (TRUST-1).

Ordinary tokens are found in a text where it spells them. User-defined ones are found before the model sees the text,
byte tokens stand for what is unknown, and the others are never found. All keep their ids.
"""


@dataclass(frozen=True)
class Bpe:
    """A Byte-Pair Encoding model (``spec/04-bpe.md``). ``merges`` are in the order of their ranks.

    ``kinds`` has the tokens that are not ordinary. ``dropout`` is 0 or 1 (BPE-DROPOUT-1).
    """

    vocabulary: Mapping[str, int] = field(default_factory=dict)
    merges: tuple[Pair, ...] = ()
    unknown_token: str | None = None
    fuse_unk: bool | None = None
    byte_fallback: bool = False
    ignore_merges: bool = False
    dropout: float = 0
    continuing_prefix: str = ""
    end_of_word_suffix: str = ""
    scores: Mapping[str, float] | None = None
    kinds: Mapping[str, Kind] = field(default_factory=dict)


@dataclass(frozen=True)
class WordPiece:
    """A WordPiece model (``spec/05-wordpiece.md``). ``max_word_length`` is in code points."""

    vocabulary: Mapping[str, int] = field(default_factory=dict)
    unknown_token: str = "[UNK]"
    continuing_prefix: str = "##"
    max_word_length: int = 100
    kinds: Mapping[str, Kind] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Unigram:
    """A Unigram model (``spec/06-unigram.md``). ``kind`` says what the weight of each token is (UNI-MODEL-1)."""

    weights: Mapping[str, float] = field(default_factory=dict)
    kind: Literal["frequency", "log_probability"] = "frequency"
    unknown_token: str | None = None
    byte_fallback: bool = False
    ids: Mapping[str, int] | None = field(default=None, repr=False)
    """The ids, where they are not the positions: of a model that lists a token twice (TERM-10)."""
    kinds: Mapping[str, Kind] = field(default_factory=dict, repr=False)

    @property
    def vocabulary(self) -> Mapping[str, int]:
        """The tokens with their ids."""
        return number_tokens(self.weights) if self.ids is None else self.ids

    @property
    def ordinary(self) -> Mapping[str, float]:
        """The weights of the ordinary tokens, of which segmentations are made."""
        return {token: weight for token, weight in self.weights.items() if token not in self.kinds}


@dataclass(frozen=True)
class WordLevel:
    """A model that knows whole pieces only (``spec/14-word-level.md``)."""

    vocabulary: Mapping[str, int] = field(default_factory=dict)
    unknown_token: str = "<unk>"
    kinds: Mapping[str, Kind] = field(default_factory=dict, repr=False)


Model = Bpe | WordPiece | Unigram | WordLevel

AnyModel = TypeVar("AnyModel", bound=Model)


@dataclass(frozen=True)
class AddedToken:
    """A token that is found in the text before the model sees it (``spec/03-added-tokens.md``).

    ``id`` is None where there is no vocabulary that it could be in.
    """

    content: str
    id: int | None = None
    special: bool = True
    normalized: bool = False
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False
    passed_over: bool = False
    """Whether a match is text, because a request does not allow it (``special_not_allowed``)."""


@dataclass(frozen=True)
class Component:
    """A normalizer, pre-tokenizer, post-processor or decoder: its type, and every parameter of that type."""

    type: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Truncation:
    """How long a result of encoding may be, and what is cut where it is longer (``spec/12-lengths.md``)."""

    max_length: int
    strategy: Literal["longest_first", "only_first", "only_second"] = "longest_first"
    stride: int = 0
    direction: Literal["right", "left"] = "right"


@dataclass(frozen=True)
class Padding:
    """To which length a result of encoding is filled up: to ``fixed``, or to the longest of a batch (None)."""

    fixed: int | None = None
    direction: Literal["right", "left"] = "right"
    pad_to_multiple_of: int | None = None
    id: int = 0
    type_id: int = 0
    token: str = "[PAD]"


@dataclass(frozen=True)
class Tokenizer:
    """A model and the stages around it. Without a model it can still normalize, pre-tokenize and decode."""

    model: Model | None = None
    normalizer: Component | None = None
    pre_tokenizer: Component | None = None
    decoder: Component | None = None
    added_tokens: tuple[AddedToken, ...] = ()
    post_processor: Component | None = None
    truncation: Truncation | None = None
    padding: Padding | None = None

    @property
    def special_tokens(self) -> tuple[str, ...]:
        """The contents of the added tokens that are special."""
        return tuple(token.content for token in self.added_tokens if token.special)

    @property
    def vocabulary(self) -> Mapping[str, int]:
        """The tokens of the model and the added ones, with their ids (TERM-9, ADDED-13)."""
        of_model = self.model.vocabulary if self.model is not None else {}
        return {**of_model, **{token.content: token.id for token in self.added_tokens if token.id is not None}}


def is_ordinary(text: str, model: Model) -> bool:
    """Whether a text is a token that is found where it occurs (TERM-2: of equal code points).

    >>> is_ordinary("<s>", Bpe({"<s>": 0}, kinds={"<s>": "control"}))
    False
    """
    return text in model.vocabulary and text not in model.kinds


def set_kind(kind: Kind, tokens: Iterable[str], model: AnyModel) -> AnyModel:
    """Return a model in which some of its tokens are of another kind.

    >>> set_kind("not_allowed", ["<s>"], WordLevel({"<s>": 0})).kinds
    {'<s>': 'not_allowed'}
    """
    vocabulary = model.vocabulary
    return replace(model, kinds={**model.kinds, **{token: kind for token in tokens if token in vocabulary}})


def unknown_token(model: Model, symbols: str, start: int, end: int) -> Token:
    """Return the unknown token for the part of the input from ``start`` to ``end``, whose text is ``symbols``.

    Raises:
        InputError: ``unknown_symbol``, where the model has no unknown token.
    """
    token = model.unknown_token
    if token is None:
        raise InputError("unknown_symbol", f"{symbols!r} is unknown and the model has no unknown token")
    vocabulary = model.vocabulary
    # Refused here and not when the model is read: a text that needs no unknown token is encoded all the same.
    if token not in vocabulary:  # BPE-MODEL-2, WP-MODEL-1, UNI-MODEL-2, WL-2
        message = f"{symbols!r} is unknown and the unknown token {token!r} is not in the vocabulary"
        raise InputError("unknown_symbol", message)
    return Token(token, vocabulary[token], start, end)
