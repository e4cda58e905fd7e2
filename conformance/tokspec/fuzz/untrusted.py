"""Untrusted text: whether a text becomes a special token that is not allowed, regardless of anything else.

The contents of special tokens are drawn in every form in which somebody could write them: whole and cut, next to each
other and nested, with white space and invisible characters, in another case, width or normal form. Nothing is compared
with a right answer: a text passes if its ids contain no special token.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from tokspec.base.display import compact
from tokspec.base.errors import DataError, items_of
from tokspec.compare.shrink import Question, listed_tokens
from tokspec.formats.files import without
from tokspec.fuzz.campaign import Campaign
from tokspec.fuzz.checker import Asked, Checker, Comparison, case_of
from tokspec.fuzz.clauses import CONTROL_ID
from tokspec.fuzz.drawing import weighted
from tokspec.fuzz.strategies import Example
from tokspec.judge.verdicts import Result, Verdict
from tokspec.protocol.messages import Answer, Fault, Reply, is_unsupported

#: Families whose models encode.
FAMILIES = ("bpe", "bpe-bytes", "wordpiece", "unigram", "wordlevel")

#: How many texts each model gets, and how many parts a text has at most.
_TEXTS, _PARTS = 24, 6

#: The fullwidth forms of U+0021 to U+007E, and the characters that are put between two others.
_WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
_INVISIBLE = ("\u00ad", "\u200b", "\u200d", "\ufeff")

#: Components that act on whole encodings, and insert special tokens themselves.
_AROUND = ("post_processor", "truncation", "padding")


def untrusted_texts(special_tokens: Sequence[str], alphabet: str = "ab ") -> st.SearchStrategy[str]:
    """Draw texts that spell special tokens in every form, for a test that none of them becomes one.

    Raises:
        DataError: ``special_tokens`` is not a list of texts, is empty, or has a content that no text can have.

    >>> from hypothesis import given, settings
    >>> @settings(max_examples=10, database=None, derandomize=True)
    ... @given(untrusted_texts(["<|im_end|>"]))
    ... def test_no_text_becomes_a_control_id(text):
    ...     assert 5 not in [1, 2, 3]  # the id of the token, and those that my tokenizer gives for the text
    >>> test_no_text_becomes_a_control_id()
    """
    contents = items_of(special_tokens, "contents of special tokens", key="special_tokens")
    if not contents:
        raise DataError("is empty; list the contents of your special tokens", key="special_tokens")
    for number, content in enumerate(contents):
        if not content or any("\ud800" <= character <= "\udfff" for character in content):
            raise DataError(f"holds {content!r} at place {number}, which no text can have", key="special_tokens")
    return _spelling(contents, alphabet)


def _spelling(special_tokens: Sequence[str], alphabet: str = "ab ") -> st.SearchStrategy[str]:
    parts = weighted((50, special_tokens), (60, [*dict.fromkeys(_forms(special_tokens))]), (20, alphabet))
    return st.lists(st.sampled_from(parts), min_size=1, max_size=_PARTS).map("".join)


def _forms(contents: Sequence[str]) -> Iterator[str]:
    for whole in contents:
        at = len(whole) // 2
        yield from (whole[1:], whole[:-1], whole[:at], whole[at:])
        yield from (whole.upper(), whole.lower(), whole.title(), whole.swapcase(), whole.translate(_WIDE))
        yield from (unicodedata.normalize(form, whole) for form in ("NFC", "NFD", "NFKC", "NFKD"))
        yield from (f" {whole}", f"{whole} ", f"\n{whole}\n", f"  {whole}\t", whole.replace(" ", "▁"), f"▁{whole}")
        yield from (f"{whole[:at]}{between}{whole[at:]}" for between in (*_INVISIBLE, " ", "\u0301", "\\"))
        yield from (f"{whole}{whole}", f"a{whole}b", f"##{whole}", whole.encode().hex(), whole[::-1])
        for other in contents:
            yield from (whole[:at] + other + whole[at:], whole + other[1:], whole[:-1] + other, whole[:at] + other)


def hidden_tokens(model: Mapping[str, Any]) -> dict[str, int | None]:
    """Return the special tokens of a model with their ids, except those for unknown characters and bytes.

    >>> hidden_tokens({"type": "wordlevel", "vocabulary": ["<unk>", "<s>"], "special_tokens": ["<unk>", "<s>"]})
    {'<s>': 1}
    """
    listed = model.get("vocabulary", listed_tokens(model))
    ids = dict((entry, place) if isinstance(entry, str) else (entry[0], entry[1]) for place, entry in enumerate(listed))
    rows = [{"content": token} for token in model.get("special_tokens", ())]
    rows += [row for row in model.get("added_tokens", ()) if row.get("special", True)]
    unknown = model.get("unknown_token", {"wordpiece": "[UNK]", "wordlevel": "<unk>"}.get(model.get("type", "")))
    contents = {row["content"]: ids.get(row["content"], row.get("id")) for row in rows}
    is_byte = model.get("byte_fallback", False)
    return {
        token: id
        for token, id in contents.items()
        if token != unknown and not (is_byte and token.startswith("<0x") and len(token) == len("<0x41>"))
    }


class Guard(Checker):
    """Asks only one side, and reports a difference if a text yields a special token that is not allowed.

    ``faults`` counts requests that were not answered, which do not count as texts that pass.
    """

    faults = 0

    def _compare_piece(
        self, model: Mapping[str, Any], requests: Sequence[Asked], again: bool
    ) -> Iterator[tuple[Asked, Comparison]]:
        hidden = hidden_tokens(model)
        for asked, reply in zip(requests, self.judged.ask(model, requests)[0], strict=True):
            self.faults += isinstance(reply, Fault)
            yield asked, _judged(model, asked, reply, hidden)


def _judged(model: Mapping[str, Any], asked: Asked, reply: Reply, hidden: Mapping[str, int | None]) -> Comparison:
    if is_unsupported(reply):
        return Comparison("unsupported")
    if not isinstance(reply, Answer):
        return Comparison("open")
    ids, tokens = reply.result.get("ids"), reply.result.get("tokens", ())
    came = [
        name for name, id in hidden.items() if (id in ids if ids is not None and id is not None else name in tokens)
    ]
    if not came or asked[1].get("allowed_special") != []:
        return Comparison("same")
    case, detail = case_of(Question(model, *asked), {"expect": {}}), f"became {compact(came[0])}, which is not allowed"
    return Comparison("differs", CONTROL_ID, Result(case, Verdict.FAIL, detail, {"expect": {}}, reply))


class Untrusted(Campaign):
    """A campaign over texts in which no special token is allowed.

    ``shortest`` is the shortest text that became one, before it was minimized.

    Raises:
        DataError: the implementation does not know the option.
    """

    shortest = ""

    def _drawn(self) -> st.SearchStrategy[Example]:
        if "allowed_special" not in self.checker.hello.encode_options:
            hello = self.checker.hello
            raise DataError("does not know the option allowed_special", key=f"{hello.name} {hello.version}")
        return _guarded(super()._drawn())

    def _tell(self, example: Example, compared: Sequence[tuple[Asked, Comparison]]) -> None:
        for (_, input), comparison in compared:
            if comparison.kind == CONTROL_ID and (not self.shortest or len(input["text"]) < len(self.shortest)):
                self.shortest = input["text"]
        super()._tell(example, compared)

    def summary(self) -> list[str]:
        """Say how many texts were answered, how many of them became a special token, and the shortest."""
        states, faults = self.tally.states, self.checker.faults if isinstance(self.checker, Guard) else 0
        became = (
            f"{states['differs']} became one, the shortest {compact(self.shortest)}"
            if self.shortest
            else "none became one"
        )
        lines = [f"{states['same'] + states['differs']} texts in which no special token is allowed: {became}"]
        return [*lines, *([f"{faults} requests crashed, took too long or broke the protocol"] if faults else [])]


@st.composite
def _guarded(draw: st.DrawFn, base: st.SearchStrategy[Example]) -> Example:
    """Draw a model that has special tokens, some of which its own tokens spell, and texts that spell them."""
    example = draw(base)
    model = without(example.model, *(key for key in _AROUND if key in example.model))
    listed = listed_tokens(model)
    if listed and not hidden_tokens(model):
        longest = sorted((token for token in listed if token), key=len)[-3:]
        if longest and "added_tokens" not in model:
            model = {**model, "special_tokens": [draw(st.sampled_from(longest))]}
    contents = [*hidden_tokens(model)]
    if not contents:
        return Example(example.family, model, [])
    texts = draw(st.lists(_spelling(contents), min_size=_TEXTS // 3, max_size=_TEXTS))
    requests = [("encode", {"text": text, "allowed_special": []}) for text in dict.fromkeys(texts)]
    return Example(example.family, model, requests)
