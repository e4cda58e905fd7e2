"""Lengths: truncation to a greatest length, and padding to a common one (``spec/12-lengths.md``).

Truncation comes before post-processing and leaves room for what that adds; padding is the last step.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokref.choices import Choices
from tokref.errors import InputError
from tokref.values import EncodedToken, Encoding, Padding, Truncation

Part = tuple[EncodedToken, ...]


def truncate(
    texts: Sequence[Part], truncation: Truncation | None, added: int, choices: Choices
) -> tuple[tuple[Part, ...], ...]:
    """Cut texts so that they fit with as many tokens as will be added; return the parts of each, the kept one first.

    Raises:
        InputError: ``invalid_input``, where the texts cannot be cut as the strategy says.

    >>> abc = tuple(EncodedToken(token, None, 0, 0) for token in "abc")
    >>> [parts] = truncate([abc], Truncation(3), 1, Choices())
    >>> ["".join(token.text for token in part) for part in parts]
    ['ab', 'c']
    """
    if truncation is None:  # TRUNC-11
        return tuple((text,) for text in texts)
    room = truncation.max_length - added  # TRUNC-1
    # Refused however short the texts are, so that a setting which can never work shows at once.
    if room < 0:  # TRUNC-6
        message = f"max_length is {truncation.max_length}, and {added} tokens are added; make it larger"
        raise InputError("invalid_input", message)
    sizes = _sizes([len(text) for text in texts], room, truncation, choices)
    return tuple(_parts(text, size, truncation) for text, size in zip(texts, sizes, strict=True))


def _sizes(lengths: list[int], room: int, truncation: Truncation, choices: Choices) -> list[int]:
    """Return how many tokens each text keeps."""
    excess = sum(lengths) - room
    if excess <= 0:  # TRUNC-1
        return lengths
    if room == 0:  # TRUNC-6
        return [0 for _ in lengths]
    if truncation.strategy == "longest_first":
        return _longest_first(lengths, room, choices)
    place = 0 if truncation.strategy == "only_first" else 1
    if place == len(lengths):  # TRUNC-5
        raise InputError("invalid_input", "the strategy only_second needs a pair; give one, or a shorter text")
    # The other text may not be touched, and a text that is cut to nothing would be lost in silence.
    if lengths[place] <= excess:  # TRUNC-5
        message = f"{truncation.strategy} would have to remove {excess} tokens of {lengths[place]}"
        raise InputError("invalid_input", message)
    return [length - excess if number == place else length for number, length in enumerate(lengths)]  # TRUNC-4


def _longest_first(lengths: list[int], room: int, choices: Choices) -> list[int]:
    """Take tokens from the longer text, one after the other (TRUNC-3).

    So a short question keeps all of its tokens as long as the passage with it is longer.
    """
    sizes = list(lengths)
    while sum(sizes) > room:
        longer = sizes.index(max(sizes))
        if len(set(sizes)) == 1 and len(sizes) == 2:  # as long as each other: the last one tells them apart
            longer = 1
            if choices.truncation_odd == "longer" and lengths[0] <= lengths[1]:
                longer = 0
        sizes[longer] -= 1
    return sizes


def _parts(text: Part, size: int, truncation: Truncation) -> tuple[Part, ...]:
    """Cut a text into the part that is kept and those that overflow (TRUNC-7)."""
    if size == len(text):
        return (text,)
    # Steps of no tokens would never reach the end, so all of the text is one part.
    if size == 0:  # TRUNC-7
        return (), text
    if truncation.stride >= size:  # TRUNC-9
        message = f"the stride {truncation.stride} is not below {size}, the number of tokens that a text keeps"
        raise InputError("invalid_input", message)
    step, parts = size - truncation.stride, list[Part]()
    # Each part begins ``stride`` tokens before the end of the one before it, so that an answer to a question which a
    # cut would divide is whole in one of them.
    if truncation.direction == "right":  # TRUNC-2
        begin = 0
        while not parts or begin - step + size < len(text):
            parts.append(text[begin : begin + size])
            begin += step
    else:
        end = len(text)
        while not parts or end + step - size > 0:
            parts.append(text[max(end - size, 0) : end])
            end -= step
    return tuple(parts)


def pad(encodings: Sequence[Encoding], padding: Padding | None) -> list[Encoding]:
    """Fill the encodings of a batch up to one length.

    >>> a = Encoding((EncodedToken("a", 5, 0, 1),))
    >>> [token.text for token in pad([a], Padding(fixed=2))[0].tokens]
    ['a', '[PAD]']
    """
    if padding is None:
        return list(encodings)
    length = padded_length(encodings, padding)
    return [_fill(encoding, length, padding) for encoding in encodings]


def padded_length(encodings: Sequence[Encoding], padding: Padding) -> int:
    """Return the length up to which the encodings of a batch are filled.

    >>> padded_length([Encoding((EncodedToken("a", 5, 0, 1),) * 3)], Padding(pad_to_multiple_of=4))
    4
    """
    longest = max((len(encoding.tokens) for encoding in encodings), default=0)
    length = longest if padding.fixed is None else padding.fixed  # PAD-1, PAD-2
    multiple = padding.pad_to_multiple_of or 1
    # Some processors multiply matrices faster whose sides are multiples of 8 or 64.
    return length + -length % multiple  # PAD-3: and what is missing to a whole multiple


def _fill(encoding: Encoding, length: int, padding: Padding) -> Encoding:
    # PAD-5, PAD-6
    token = EncodedToken(padding.token, padding.id, 0, 0, padding.type_id, is_special=True, is_attended=False)
    filling = (token,) * (length - len(encoding.tokens))  # PAD-1: none, if it is longer
    tokens = encoding.tokens + filling if padding.direction == "right" else filling + encoding.tokens  # PAD-4
    return Encoding(tokens, tuple(_fill(part, length, padding) for part in encoding.overflowing))  # PAD-7
