"""The stages together: text to tokens, tokens to text, and texts to words (``spec/03-added-tokens.md``, chapter 7).

Encoding takes added tokens out of the text. What is between them is normalized and cut into pieces, and the model
encodes each piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

from tokref.added_tokens import (
    SpecialTokens,
    keep_allowed,
    normalized_contents,
    raw_contents,
    refuse_disallowed,
    split_added_tokens,
)
from tokref.alignment import AlignedText
from tokref.bpe import encode_bpe
from tokref.choices import Choices
from tokref.decoding import join_tokens, token_bytes
from tokref.errors import InputError
from tokref.lengths import pad, truncate
from tokref.normalization import normalize
from tokref.post_processing import added_count, post_process, trim_spans
from tokref.pre_tokenization import in_byte_alphabet, pre_tokenize, puts_replacement
from tokref.sentencepiece import split_at_symbols
from tokref.unigram import encode_unigram
from tokref.values import (
    AddedToken,
    Bpe,
    EncodedToken,
    Encoding,
    Model,
    Token,
    Tokenizer,
    Unigram,
    WordLevel,
    WordPiece,
    Words,
)
from tokref.word_level import encode_word_level
from tokref.wordpiece import encode_wordpiece


class Piece(NamedTuple):
    """The tokens of a piece; ``is_added`` says that it is an added token."""

    tokens: list[Token]
    is_added: bool = False


def encode(text: str, tokenizer: Tokenizer, choices: Choices) -> list[Token]:
    """Encode a text; the spans of the tokens count in it, before any normalization (ENC-3).

    Nothing is inserted, truncated or padded: :func:`encode_inputs` does that.

    Raises:
        InputError: ``unknown_symbol``; ``unsupported``, where there is no model.

    >>> from tokref import Bpe
    >>> encode("ug", Tokenizer(Bpe({"g": 0, "u": 1, "ug": 2}, (("u", "g"),))), Choices())
    [Token(text='ug', id=2, start=0, end=2)]
    """
    return [token for piece in encode_pieces(text, tokenizer, choices) for token in piece.tokens]


def encode_inputs(
    inputs: Sequence[Sequence[str]],
    tokenizer: Tokenizer,
    choices: Choices,
    add_special_tokens: bool = True,
    allowed_special: SpecialTokens = "all",
    disallowed_special: SpecialTokens = (),
) -> list[Encoding]:
    """Encode a batch of inputs, each of which is one text or two (BATCH-1).

    Raises:
        InputError: as :func:`encode`; ``invalid_input``, where a text cannot be cut as the model says, or has a special
            token that is disallowed.

    >>> from tokref import Bpe, Padding
    >>> tokenizer = Tokenizer(Bpe({"[PAD]": 0, "a": 1}), padding=Padding())
    >>> for encoding in encode_inputs([["a"], ["a", "a"]], tokenizer, Choices()):
    ...     print(*(token.text for token in encoding.tokens))
    a [PAD]
    a a
    """
    for texts in inputs:
        for text in texts:
            refuse_disallowed(text, tokenizer.special_tokens, allowed_special, disallowed_special)
    tokenizer = keep_allowed(tokenizer, allowed_special, choices)
    encodings = [_encode_input(texts, tokenizer, choices, add_special_tokens) for texts in inputs]
    return pad(encodings, tokenizer.padding)


class TextPart(NamedTuple):
    """A text of a prompt; every special token is allowed in it if it is trusted, and none if it is not (PARTS-2)."""

    text: str
    trusted: bool = False


def encode_parts(
    parts: Sequence[TextPart | Sequence[int]],
    tokenizer: Tokenizer,
    choices: Choices,
    add_special_tokens: bool = True,
) -> Encoding:
    """Encode the parts of a prompt, each of which is a text or a list of ids (``spec/17-untrusted-text.md``).

    The spans of tokens count in their own part.

    Raises:
        InputError: as :func:`encode`; ``unknown_id``, where an id is of no token.

    >>> from tokref import Bpe
    >>> tokenizer = Tokenizer(Bpe({"<": 0, "e": 1, ">": 2}), added_tokens=(AddedToken("<e>", 3),))
    >>> parts = [TextPart("<e>"), [3], TextPart("<e>", trusted=True)]
    >>> [token.id for token in encode_parts(parts, tokenizer, Choices()).tokens]
    [0, 1, 2, 3, 3]
    """
    untrusted, strict = keep_allowed(tokenizer, (), choices), replace(choices, unknown_id="error")
    tokens: list[EncodedToken] = []
    for part in parts:  # PARTS-1
        if isinstance(part, TextPart):
            tokens += _encode_text(part.text, 0, tokenizer if part.trusted else untrusted, choices)  # PARTS-2
        else:
            names = tokens_of(part, tokenizer, strict)
            tokens += [EncodedToken(name, id, 0, 0) for name, id in zip(names, part, strict=True)]  # PARTS-3
    added = added_count(tokenizer.post_processor, 1) if add_special_tokens else 0
    ((kept, *_),) = truncate([tuple(tokens)], tokenizer.truncation, added, choices)  # PARTS-5
    whole = post_process([kept], tokenizer.post_processor, add_special_tokens)  # PARTS-4, TRUST-5
    return pad([Encoding(whole)], tokenizer.padding)[0]


def _encode_input(texts: Sequence[str], tokenizer: Tokenizer, choices: Choices, add_special_tokens: bool) -> Encoding:
    encoded = [_encode_text(text, number, tokenizer, choices) for number, text in enumerate(texts)]  # POST-1
    added = added_count(tokenizer.post_processor, len(texts)) if add_special_tokens else 0  # TRUNC-1
    parts = truncate(encoded, tokenizer.truncation, added, choices)  # TRUNC-10: of tokens that have all else
    chosen: list[tuple[tuple[EncodedToken, ...], ...]] = list(product(*parts))
    # Parts of both texts are combined, each of one with each of the other, the whole pair first.
    if len(parts) == 2:  # TRUNC-8
        a, b = parts
        chosen = [(a[0], b[0]), *product(a[1:], b), *product(a[:1], b[1:])]
    # Whatever is allowed in the texts, and whatever they begin with (TRUST-4, TRUST-5).
    whole, *overflowing = [post_process(texts, tokenizer.post_processor, add_special_tokens) for texts in chosen]
    return Encoding(whole, tuple(map(Encoding, overflowing)))


def _encode_text(text: str, number: int, tokenizer: Tokenizer, choices: Choices) -> tuple[EncodedToken, ...]:
    tokens = [
        EncodedToken(*token, word=word, sequence=number, is_added=piece.is_added)  # ENC-8, POST-5
        for word, piece in enumerate(encode_pieces(text, tokenizer, choices))
        for token in piece.tokens
    ]
    return tuple(trim_spans(tokens, text, tokenizer.post_processor, choices))


def encode_pieces(text: str, tokenizer: Tokenizer, choices: Choices) -> list[Piece]:
    """Return the pieces of a text with their tokens. An added token is a separate piece (ENC-8).

    >>> from tokref import Bpe
    >>> tokenizer = Tokenizer(Bpe({"a": 0, "b": 1}), added_tokens=(AddedToken("b", 1),))
    >>> [[token.text for token in piece.tokens] for piece in encode_pieces("aab", tokenizer, Choices())]
    [['a', 'a'], ['b']]
    """
    if tokenizer.model is None:
        raise InputError("unsupported", "encoding needs a model")
    added, normalizer = tokenizer.added_tokens, tokenizer.normalizer
    in_raw_text, in_normalized_text = raw_contents(added), normalized_contents(added, normalizer, choices)
    pieces: list[Piece] = []
    raw = AlignedText.from_input(text)
    for part, token in split_added_tokens(raw, in_raw_text):  # ENC-1; ENC-4: of nothing, nothing
        if token is not None:  # ADDED-1
            pieces.append(_added(token, part))
            continue
        normalized = normalize(part, normalizer, choices)  # ADDED-4
        for stretch, found in split_added_tokens(normalized, in_normalized_text):  # ADDED-5
            if found is not None:
                pieces.append(_added(found, stretch))
            else:
                pieces += _encode_stretch(stretch, tokenizer, choices)
    return pieces


def decode(tokens: Sequence[str], tokenizer: Tokenizer, choices: Choices, skip_special_tokens: bool = False) -> str:
    """Decode tokens. Where the model has a vocabulary that is not empty, they must be in it (DEC-3, DEC-4).

    Raises:
        InputError: ``unknown_id``.

    >>> decode(["a", "b"], Tokenizer(), Choices())
    'a b'
    """
    left, choices = prepare_decoding(tokens, tokenizer, choices, skip_special_tokens)
    return join_tokens(left, tokenizer.decoder, choices)


def prepare_decoding(
    tokens: Sequence[str], tokenizer: Tokenizer, choices: Choices, skip_special_tokens: bool
) -> tuple[list[str], Choices]:
    """Return the tokens that the decoder of a tokenizer gets, as they are spelled, and the choices for it.

    Raises:
        InputError: ``unknown_id``.
    """
    vocabulary = tokenizer.vocabulary
    has_vocabulary = tokenizer.model is not None and bool(tokenizer.model.vocabulary)
    # Without a vocabulary there is nothing that a token could be missing from: a decoder can be asked by itself.
    missing = [token for token in tokens if token not in vocabulary] if has_vocabulary else []  # DEC-4
    if missing and choices.unknown_id == "error":  # DEC-3
        raise InputError("unknown_id", f"token {missing[0]!r} is not in the vocabulary")
    if choices.metaspace_leading_space == "as_put":  # DEC-META-2
        removes = puts_replacement(tokenizer.pre_tokenizer)
        choices = replace(choices, metaspace_leading_space="removed" if removes else "kept")
    skipped = [*missing, *(tokenizer.special_tokens if skip_special_tokens else ())]  # DEC-5
    left = [token for token in tokens if token not in skipped]
    spelled = added_as_bytes(tokenizer, choices)
    return [spelled.get(token, token) for token in left], choices  # DEC-6


def added_as_bytes(tokenizer: Tokenizer, choices: Choices) -> dict[str, str]:
    """Return added tokens written in the byte alphabet, so that ``byte_level`` finds their UTF-8 (DEC-BYTE-1).

    >>> from tokref import Component
    >>> tokenizer = Tokenizer(added_tokens=(AddedToken("é", 0),), decoder=Component("byte_level"))
    >>> added_as_bytes(tokenizer, Choices(byte_level_added_tokens="utf_8"))
    {'é': 'Ã©'}
    """
    is_byte_level = tokenizer.decoder is not None and tokenizer.decoder.type == "byte_level"
    if choices.byte_level_added_tokens == "alphabet" or not is_byte_level:
        return {}
    return {token.content: in_byte_alphabet(token.content) for token in tokenizer.added_tokens}


def decode_tokens_bytes(ids: Sequence[int], tokenizer: Tokenizer, choices: Choices) -> list[bytes]:
    """Return the bytes of each id that is decoded, which ``byte_level`` joins (DEC-BYTES-1).

    Raises:
        InputError: ``unknown_id``; ``unsupported``, where the decoder is another.

    >>> from tokref import Bpe, Component
    >>> tokenizer = Tokenizer(Bpe({"Ã": 1, "©": 2}), decoder=Component("byte_level"))
    >>> decode_tokens_bytes([1, 2, 1], tokenizer, Choices())
    [b'\xc3', b'\xa9', b'\xc3']
    """
    if tokenizer.decoder is None or tokenizer.decoder.type != "byte_level":
        raise InputError("unsupported", "tokens are bytes for the decoder byte_level alone")
    spelled = added_as_bytes(tokenizer, choices)
    return [token_bytes(spelled.get(token, token)) for token in tokens_of(ids, tokenizer, choices)]


def decode_with_offsets(ids: Sequence[int], tokenizer: Tokenizer, choices: Choices) -> tuple[str, list[int]]:
    """Decode ids, and say at which character of the text each begins (DEC-OFFSETS-1).

    Raises:
        InputError: as :func:`decode_tokens_bytes`; ``invalid_input``, where the bytes are not UTF-8.

    >>> from tokref import Bpe, Component
    >>> tokenizer = Tokenizer(Bpe({"a": 0, "Ã": 1, "©": 2}), decoder=Component("byte_level"))
    >>> decode_with_offsets([0, 1, 2, 0], tokenizer, Choices())
    ('aéa', [0, 1, 1, 2])
    """
    parts = decode_tokens_bytes(ids, tokenizer, choices)
    joined = b"".join(parts)
    try:
        text = joined.decode("utf-8")
    except UnicodeDecodeError:  # DEC-OFFSETS-3
        raise InputError("invalid_input", "the bytes of the ids are not UTF-8, so that they have no text") from None
    begins = [not 0x80 <= byte < 0xC0 for byte in joined]  # where a character begins
    offsets = list[int]()
    place = 0
    for part in parts:
        is_within = place < len(joined) and not begins[place]
        offsets.append(sum(begins[:place]) - int(is_within))  # DEC-OFFSETS-2: of an empty token, of what follows it
        place += len(part)
    return text, offsets


def tokens_of(ids: Sequence[int], tokenizer: Tokenizer, choices: Choices) -> list[str]:
    """Return the tokens of ids.

    Raises:
        InputError: ``unknown_id``.

    >>> from tokref import Bpe
    >>> tokens_of([1, 5], Tokenizer(Bpe({"a": 0, "b": 1})), Choices(unknown_id="skipped"))
    ['b']
    """
    tokens = {id: token for token, id in tokenizer.vocabulary.items()}
    missing = [id for id in ids if id not in tokens]
    if missing and choices.unknown_id == "error":  # DEC-3
        raise InputError("unknown_id", f"id {missing[0]} has no entry in a vocabulary of {len(tokens)}")
    return [tokens[id] for id in ids if id in tokens]


def count_words(texts: Sequence[str], tokenizer: Tokenizer, choices: Choices) -> Words:
    """Count the pieces of texts after normalization and pre-tokenization (BPE-TRAIN-1).

    >>> count_words(["b", "a", "b"], Tokenizer(), Choices())
    {'b': 2, 'a': 1}
    """
    words: dict[str, int] = {}  # a dictionary keeps the order of first meeting
    for text in texts:
        normalized = normalize(AlignedText.from_input(text), tokenizer.normalizer, choices)
        for piece in pre_tokenize(normalized, tokenizer.pre_tokenizer, choices):
            words[piece.text] = words.get(piece.text, 0) + 1
    return words


def _added(token: AddedToken, found: AlignedText) -> Piece:
    start, end = found.span(0, len(found.text))  # ADDED-11
    return Piece([Token(token.content, token.id, start, end)], is_added=True)  # ENC-7, ADDED-10


def _encode_stretch(text: AlignedText, tokenizer: Tokenizer, choices: Choices) -> list[Piece]:
    pieces: list[Piece] = []
    for piece in pre_tokenize(text, tokenizer.pre_tokenizer, choices):
        pieces.append(Piece(_encode_piece(piece, tokenizer.model, choices)))  # ENC-1, UNI-ENC-1: each on its own
    return pieces


def _encode_piece(piece: AlignedText, model: Model | None, choices: Choices) -> list[Token]:
    assert model is not None
    symbols = [token for token, kind in model.kinds.items() if kind == "user_defined"]
    tokens: list[Token] = []
    for part, is_symbol in split_at_symbols(piece, symbols) if symbols else [(piece, False)]:  # SP-SYMBOL-1
        if is_symbol:
            tokens.append(Token(part.text, model.vocabulary[part.text], *part.span(0, len(part.text))))
        elif isinstance(model, Bpe):
            tokens += encode_bpe(part, model, choices)
        elif isinstance(model, WordPiece):
            tokens += encode_wordpiece(part, model, choices)
        elif isinstance(model, WordLevel):
            tokens += encode_word_level(part, model)
        elif isinstance(model, Unigram):
            tokens += encode_unigram(part, model, choices)
    return tokens
