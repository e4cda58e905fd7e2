"""Post-processing: what is put around one text or two for a language model (``spec/11-post-processing.md``).

A post-processor says three things: which template is for one text and which for two, which type ids the tokens of the
texts get, and whether spans are trimmed. Each is a function to the items of a template, found in a table by its type;
its parameters that can only be named are those of the component, with the defaults of the specification.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, NamedTuple

import regex

from tokref.choices import Choices
from tokref.values import Component, EncodedToken

WHITE_SPACE = regex.compile(r"\p{White_Space}")

TokenAndId = tuple[str, int]

Template = Annotated[tuple[Component, ...], "items of a template"]
"""Components of the types ``sequence`` and ``special``; any other tuple of components is that of a sequence."""

NamedTokens = Mapping[str, tuple[TokenAndId, ...]]
"""For each name in a template, the tokens that replace it, with their ids."""


class Item(NamedTuple):
    """An item of a template: the text of this number, or else tokens with their ids, and the type id for either."""

    text: int | None
    tokens: tuple[TokenAndId, ...]
    type_id: int


def post_process(
    texts: Sequence[Sequence[EncodedToken]], post_processor: Component | None, add_special_tokens: bool
) -> tuple[EncodedToken, ...]:
    """Put the tokens of one text or two together, with what the post-processor puts between them.

    >>> a = [EncodedToken("a", 5, 0, 1, word=0, sequence=0)]
    >>> bert = Component("bert", {"cls": ("[CLS]", 1), "sep": ("[SEP]", 2)})
    >>> [(token.text, token.sequence) for token in post_process([a], bert, add_special_tokens=True)]
    [('[CLS]', None), ('a', 0), ('[SEP]', None)]
    """
    result: list[EncodedToken] = []
    for item in _template(post_processor, len(texts)):
        if item.text is not None:  # POST-2, POST-TEMPLATE-3; POST-7: it may have no tokens
            result += [token._replace(type_id=item.type_id) for token in texts[item.text]]
        elif add_special_tokens:  # POST-6
            result += [
                EncodedToken(token, id, 0, 0, item.type_id, is_special=True)  # POST-3, POST-4, POST-5, POST-8
                for token, id in item.tokens
            ]
    return tuple(result)


def added_count(post_processor: Component | None, texts: int) -> int:
    """Return how many tokens are put around one text or two (TRUNC-1).

    >>> added_count(Component("roberta", {"cls": ("<s>", 0), "sep": ("</s>", 2)}), 2)
    4
    """
    return sum(len(item.tokens) for item in _template(post_processor, texts))


def trim_spans(
    tokens: Sequence[EncodedToken], text: str, post_processor: Component | None, choices: Choices
) -> list[EncodedToken]:
    """Take white space at their ends out of the spans of a text's tokens, where a post-processor wants it.

    >>> trimming = Component("byte_level", {"trim_offsets": True, "add_prefix_space": False, "use_regex": True})
    >>> [token] = trim_spans([EncodedToken("Ġa", 5, 1, 3)], "b a", trimming, Choices())
    >>> token.start, token.end
    (2, 3)
    """
    trimmed = list(tokens)
    # Only spans change: the text of a token keeps its spaces, or decoding would lose them.
    for step in _steps(post_processor):  # POST-SEQUENCE-1
        if step.parameters.get("trim_offsets"):  # POST-BYTE-1, POST-BYTE-4, POST-ROBERTA-3
            keeps = step.parameters["add_prefix_space"]
            trimmed = [_trim(token, text, keeps and place == 0, choices) for place, token in enumerate(trimmed)]
    return trimmed


def _trim(token: EncodedToken, text: str, keeps_prefix: bool, choices: Choices) -> EncodedToken:
    start, end = token.start, token.end
    # A token of the model shows in its own text which white space it is made of; an added one may have taken more.
    written = text[start:end] if token.is_added else token.text  # POST-BYTE-3
    before, behind = _count_spaces(written), _count_spaces(written[::-1])
    trims_all = choices.trim_offsets == "as_counted"
    # One space in front may be the prefix that was added; more than one cannot be.
    if keeps_prefix and before == 1:  # POST-BYTE-2
        before = 0
    while before and start < end and (trims_all or WHITE_SPACE.match(text[start])):  # POST-BYTE-1
        start, before = start + 1, before - 1
    while behind and start < end and (trims_all or WHITE_SPACE.match(text[end - 1])):
        end, behind = end - 1, behind - 1
    return token._replace(start=start, end=end)


def _count_spaces(text: str) -> int:
    """Count the characters at the start that are white space, or stand for a space in the byte alphabet."""
    count = 0
    while count < len(text) and (text[count] == "Ġ" or WHITE_SPACE.match(text[count])):
        count += 1
    return count


def _steps(post_processor: Component | None) -> list[Component]:
    """Return the post-processors that a sequence consists of, in their order."""
    if post_processor is None:
        return []
    if post_processor.type != "sequence":
        return [post_processor]
    return [step for part in post_processor.parameters["post_processors"] for step in _steps(part)]


def _template(post_processor: Component | None, texts: int) -> list[Item]:
    items = [Item(0, (), 0), Item(1, (), 1)][:texts]  # POST-2
    if post_processor is not None:
        items = POST_PROCESSORS[post_processor.type](items, texts, **post_processor.parameters)
    return items


def fill_template(
    items: list[Item],
    texts: int,
    *,
    single: Template,
    pair: Template,
    special_tokens: NamedTokens,
) -> list[Item]:
    """Return the items of the template for one text or two (POST-TEMPLATE-1)."""
    return [_item(item, special_tokens) for item in (single if texts == 1 else pair)]


def surround_bert(items: list[Item], texts: int, *, cls: TokenAndId, sep: TokenAndId) -> list[Item]:
    """Put ``cls`` in front, and ``sep`` after each text; the second text has its own type.

    >>> [item.type_id for item in surround_bert([], 2, cls=("[CLS]", 1), sep=("[SEP]", 2))]
    [0, 0, 0, 1, 1]
    """
    # BERT was trained to tell whether the second text follows the first, so it has to see which is which.
    items = [Item(None, (cls,), 0), Item(0, (), 0), Item(None, (sep,), 0)]  # POST-BERT-1, POST-BERT-2
    items += [Item(1, (), 1), Item(None, (sep,), 1)] if texts == 2 else []
    return items


def surround_roberta(
    items: list[Item],
    texts: int,
    *,
    cls: TokenAndId,
    sep: TokenAndId,
    trim_offsets: bool = True,
    add_prefix_space: bool = True,
) -> list[Item]:
    """Put ``cls`` in front, ``sep`` after each text and another between two; all are of one type."""
    # RoBERTa was trained on a mark between two texts and another at the start of the second, and with no types at all.
    items = [Item(None, (cls,), 0), Item(0, (), 0), Item(None, (sep,), 0)]  # POST-ROBERTA-1, POST-ROBERTA-2
    items += [Item(None, (sep,), 0), Item(1, (), 0), Item(None, (sep,), 0)] if texts == 2 else []
    return items


def put_nothing(
    items: list[Item],
    texts: int,
    *,
    add_prefix_space: bool = True,
    trim_offsets: bool = True,
    use_regex: bool = True,
) -> list[Item]:
    """Leave the items as they are: ``byte_level`` trims spans (POST-BYTE-4), which is done before, and nothing else."""
    return items


def apply_in_order(items: list[Item], texts: int, *, post_processors: tuple[Component, ...]) -> list[Item]:
    """Let each post-processor insert its tokens; at most one has any (POST-SEQUENCE-1)."""
    for step in post_processors:
        items = POST_PROCESSORS[step.type](items, texts, **step.parameters)
    return items


def _item(item: Component, special_tokens: NamedTokens) -> Item:
    """Return an item of a template that the model spells out (POST-TEMPLATE-1, POST-TEMPLATE-2)."""
    type_id = item.parameters["type_id"]
    if item.type == "sequence":
        return Item("AB".index(item.parameters["sequence"]), (), type_id)
    return Item(None, special_tokens[item.parameters["special"]], type_id)


POST_PROCESSORS: Mapping[str, Callable[..., list[Item]]] = {
    "template": fill_template,
    "bert": surround_bert,
    "roberta": surround_roberta,
    "byte_level": put_nothing,
    "sequence": apply_in_order,
}
