"""Added tokens: found in the text before the model sees it (``spec/03-added-tokens.md``).

A text is read from left to right. Where the content of an added token begins, it is taken out whole, the longest of
several, with the white space next to it that its flags ask for; the stretches between go on, each on its own. This
happens twice: in the raw text for tokens that are matched as they are, and in the normalized stretches for the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import regex

from tokref.alignment import AlignedText
from tokref.choices import Choices
from tokref.errors import InputError, brief
from tokref.normalization import normalize
from tokref.values import AddedToken, Component, Tokenizer, set_kind

SpecialTokens = Literal["all"] | Sequence[str]
"""The special tokens that a request allows or disallows: all, or the contents of some."""

WORD_CHARACTER = regex.compile(r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]")  # ADDED-8
WHITE_SPACE = regex.compile(r"\p{White_Space}*")
WHITE_SPACE_AT_END = regex.compile(r"\p{White_Space}*$")


class Stretch(NamedTuple):
    """A part of the text, and the added token that it is, or None."""

    text: AlignedText
    token: AddedToken | None


def keep_allowed(tokenizer: Tokenizer, allowed: SpecialTokens, choices: Choices) -> Tokenizer:
    """Return a tokenizer without the special tokens that are not allowed: they are text (ADDED-15, ADDED-16).

    >>> tokenizer = Tokenizer(added_tokens=(AddedToken("<a>"), AddedToken("<b>")))
    >>> keep_allowed(tokenizer, ["<b>"], Choices()).special_tokens
    ('<b>',)
    """
    if allowed == "all":
        return tokenizer
    kept: list[AddedToken] = []
    hidden: list[str] = []
    for token in tokenizer.added_tokens:
        if not token.special or token.content in allowed:
            kept.append(token)
            continue
        hidden.append(token.content)
        if choices.special_not_allowed == "passed_over":  # TRUST-3
            kept.append(replace(token, passed_over=True))
    model = set_kind("not_allowed", hidden, tokenizer.model) if tokenizer.model else None  # TRUST-1
    return replace(tokenizer, added_tokens=tuple(kept), model=model)


def refuse_disallowed(
    text: str, special_tokens: Sequence[str], allowed: SpecialTokens, disallowed: SpecialTokens
) -> None:
    """Refuse a text that contains a disallowed special token (ADDED-17).

    Raises:
        InputError: ``invalid_input``.
    """
    if disallowed == "all":
        disallowed = [token for token in special_tokens if allowed != "all" and token not in allowed]
    for token in disallowed:  # ADDED-18: whatever is allowed, and wherever it is
        if token in special_tokens and token in text:
            raise InputError("invalid_input", f"the special token {brief(token)} is disallowed and stands in the text")


def raw_contents(tokens: Sequence[AddedToken]) -> dict[str, AddedToken]:
    """Return what is looked for in the raw text: the contents as they are (ADDED-1)."""
    return {token.content: token for token in tokens if not token.normalized}


def normalized_contents(
    tokens: Sequence[AddedToken], normalizer: Component | None, choices: Choices
) -> dict[str, AddedToken]:
    """Return what is looked for in the normalized text: the contents, normalized too (ADDED-5).

    >>> list(normalized_contents([AddedToken("Foo", normalized=True)], Component("lowercase"), Choices()))
    ['foo']
    """
    found: dict[str, AddedToken] = {}
    for token in tokens:
        if token.normalized:
            # The normalizer has changed the text, so that "Foo" would never be found in what it has lowercased.
            content = normalize(AlignedText.from_input(token.content), normalizer, choices).text
            if content:  # ADDED-5: of nothing, nothing is found
                found.setdefault(content, token)
    return found


def split_added_tokens(aligned: AlignedText, contents: Mapping[str, AddedToken]) -> list[Stretch]:
    """Cut a text into added tokens and the stretches between them, none of which is empty.

    >>> aligned = AlignedText.from_input("a  <m>b")
    >>> for stretch in split_added_tokens(aligned, {"<m>": AddedToken("<m>", lstrip=True)}):
    ...     print(repr(stretch.text.text), stretch.token is not None)
    'a' False
    '  <m>' True
    'b' False
    """
    text, found = aligned.text, list[Stretch]()
    begin = place = 0  # ``begin`` is where the stretch since the last added token starts
    while contents and place < len(text):
        here = [content for content in contents if text.startswith(content, place)]  # ADDED-1: literally
        if not here:
            place += 1
            continue
        # And not the one that is listed first, because a longer one listed later would never be found.
        content = max(here, key=len)  # ADDED-2
        token, end = contents[content], place + len(content)
        # What is passed over takes no white space, and is text of the stretch around it (TRUST-2).
        if token.passed_over or (token.single_word and _is_in_word(text, place, end)):  # ADDED-8, TRUST-3
            # Not even a shorter token that begins here is tried: the match as a whole is text.
            place = end  # ADDED-9
            continue
        start, end = _with_white_space(text, place, end, token)
        start = max(start, begin)  # ADDED-6: what the token before has taken is not taken again
        if begin < start:
            found.append(Stretch(aligned.cut(begin, start), None))  # ADDED-3: with the white space next to it
        found.append(Stretch(aligned.cut(start, end), token))  # ADDED-11
        begin = place = end  # ADDED-2: without overlap
    if begin < len(text):
        found.append(Stretch(aligned.cut(begin, len(text)), None))
    return found


def _is_in_word(text: str, start: int, end: int) -> bool:
    beside = text[:start][-1:], text[end:][:1]  # empty at the ends of the text
    return any(WORD_CHARACTER.match(character) for character in beside)


def _with_white_space(text: str, start: int, end: int, token: AddedToken) -> tuple[int, int]:
    if token.lstrip:  # ADDED-6
        before = WHITE_SPACE_AT_END.search(text[:start])
        assert before is not None
        start = before.start()
    if token.rstrip:  # ADDED-7
        after = WHITE_SPACE.match(text, end)
        assert after is not None
        end = after.end()
    return start, end
