"""The generators as Hypothesis strategies, for the tests of a port. Needs ``pip install hypothesis``.

What they draw is what ``tokspec fuzz`` makes, and shrinks as whatever Hypothesis draws. Models are plain values in the
neutral form of ``fixtures/README.md``; :func:`tokspec.formats.write` writes them as files that tokenizers load.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from hypothesis import strategies as st

from tokspec.fuzz.characters import by_category
from tokspec.fuzz.corpora import corpus
from tokspec.fuzz.example import Example
from tokspec.fuzz.models import FAMILIES, Generated, model
from tokspec.fuzz.requests import asked
from tokspec.fuzz.texts import Material, text

__all__ = ["corpora", "examples", "models", "models_with_texts", "texts"]

by_category()  # now, because what is drawn first would be too slow for Hypothesis

_RANDOM: st.SearchStrategy[Random] = st.randoms(use_true_random=False)


def texts(
    tokens: Sequence[str] = (), special_tokens: Sequence[str] = (), alphabet: str = "ab"
) -> st.SearchStrategy[str]:
    """Draw texts of all categories, among them glued and cut tokens, and special tokens whole, nested and damaged.

    >>> from hypothesis import given, settings
    >>> @settings(max_examples=10, database=None, derandomize=True)
    ... @given(texts(["hug", "##s"], ["<s>"]))
    ... def test_my_tokenizer_takes_every_text(text):
    ...     text.encode("utf-8", "surrogatepass")
    >>> test_my_tokenizer_takes_every_text()
    """
    material = Material(alphabet, tuple(tokens), tuple(special_tokens))
    return _RANDOM.map(lambda random: text(random, material))


def _generated(families: Sequence[str]) -> st.SearchStrategy[Generated]:
    return st.builds(model, _RANDOM, st.sampled_from(tuple(families)))


def models(families: Sequence[str] = tuple(FAMILIES)) -> st.SearchStrategy[Mapping[str, Any]]:
    """Draw models of the given families, which are keys of ``tokspec.fuzz.models.FAMILIES``.

    >>> from hypothesis import given, settings
    >>> @settings(max_examples=10, database=None, derandomize=True)
    ... @given(models(["bpe"]))
    ... def test_my_loader(model):
    ...     assert model["type"] == "bpe"
    >>> test_my_loader()
    """
    return _generated(families).map(lambda generated: generated.model)


def models_with_texts(families: Sequence[str] = tuple(FAMILIES)) -> st.SearchStrategy[tuple[Mapping[str, Any], str]]:
    """Draw a model and a text that is made for it.

    >>> from hypothesis import given, settings
    >>> @settings(max_examples=10, database=None, derandomize=True)
    ... @given(models_with_texts(["wordpiece", "bpe"]))
    ... def test_my_tokenizer_loads_every_model(drawn):
    ...     model, text = drawn
    ...     assert model["type"] in ("wordpiece", "bpe")
    >>> test_my_tokenizer_loads_every_model()
    """
    return st.builds(lambda made, random: (made.model, text(random, made.material)), _generated(families), _RANDOM)


def corpora(alphabet: str = "ab", special_tokens: Sequence[str] = ()) -> st.SearchStrategy[Mapping[str, Any]]:
    """Draw corpora: words with counts, or texts.

    >>> from hypothesis import given, settings
    >>> @settings(max_examples=10, database=None, derandomize=True)
    ... @given(corpora())
    ... def test_my_trainer_takes_every_corpus(corpus):
    ...     assert corpus.keys() <= {"words", "texts"}
    >>> test_my_trainer_takes_every_corpus()
    """
    material = Material(alphabet, (), tuple(special_tokens))
    return _RANDOM.map(lambda random: corpus(random, material))


def examples(
    families: Sequence[str] = tuple(FAMILIES), operations: Sequence[str] = ("encode",)
) -> st.SearchStrategy[Example]:
    """Draw an operation and its input with the model that is asked.

    >>> from hypothesis import given, settings
    >>> @settings(max_examples=10, database=None, derandomize=True)
    ... @given(examples(["bpe"], ["decode"]))
    ... def test_my_decoder(example):
    ...     assert example.input.keys() <= {"tokens", "ids"}
    >>> test_my_decoder()
    """
    wanted = frozenset(operations)

    def draw(generated: Generated, random: Random) -> list[Example]:
        rows = asked(random, generated)
        return [Example(generated.model, *row, generated.family) for row in rows if row[0] in wanted]

    drawn = st.builds(draw, _generated(families), _RANDOM).filter(bool)
    return drawn.flatmap(st.sampled_from)
