"""A survey finds what an implementation answers; that is drawn, and what is not answered is named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tokspec.adapters.reference import ReferenceAdapter
from tokspec.base.errors import Unsupported
from tokspec.formats.tiktoken_ranks import merges_of
from tokspec.fuzz.campaign import Budget, Campaign
from tokspec.fuzz.checker import Checker, Side
from tokspec.fuzz.components import STAGES
from tokspec.fuzz.display import total
from tokspec.fuzz.families import BROKEN, FAMILIES
from tokspec.fuzz.features import request_features
from tokspec.fuzz.pipelines import PIPELINES, starts
from tokspec.fuzz.survey import Survey, survey
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite import schema

GPT2 = {"type": "byte_level", "add_prefix_space": False, "use_regex": True}


class Picky(ReferenceAdapter):
    """The reference, which notes what it is asked to load and refuses most of it."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[tuple[Mapping[str, Any], bool]] = []

    def offers(self, model: Mapping[str, Any]) -> bool:
        """Say whether a model is loaded."""
        return False

    def load(self, format: str, content: Any) -> Any:
        self.loaded.append((content, self.offers(content)))
        if not self.offers(content):
            raise Unsupported("does not know such models")
        return super().load(format, content)


class Bert(Picky):
    """Knows BERT's pipeline, and no part of it without the others."""

    def offers(self, model: Mapping[str, Any]) -> bool:
        kinds = [model.get(stage, {}).get("type") for stage in ("normalizer", "pre_tokenizer")]
        decoder = model.get("decoder", {}).get("type", "wordpiece")
        return (model.get("type"), *kinds, decoder) == ("wordpiece", "bert", "bert", "wordpiece")


class Gpt2(Picky):
    """Knows byte-level BPE that is cut by GPT-2's pattern, and no stage before that."""

    def offers(self, model: Mapping[str, Any]) -> bool:
        is_plain = not model.keys() & {"normalizer", "unknown_token", "special_tokens", "added_tokens"}
        return is_plain and model.get("type") == "bpe" and model.get("pre_tokenizer") == GPT2


class NoStripping(Picky):
    """Knows everything but a decoder."""

    def offers(self, model: Mapping[str, Any]) -> bool:
        return not has_strip(model.get("decoder", {}))


def has_strip(part: Mapping[str, Any]) -> bool:
    return part.get("type") == "strip" or any(map(has_strip, part.get("decoders", ())))


def fuzz(adapter: Picky, examples: int = 300, seed: int = 1, **options: Any) -> Campaign:
    made = Campaign(Checker(Side(lambda: InProcessSession(adapter))), seed, Budget(examples=examples), **options)
    made.run()
    assert list(made.findings) == []
    return made


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "family"), [(Bert, "wordpiece"), (Gpt2, "bpe"), (Gpt2, "bpe-bytes")])
def test_who_knows_one_pipeline_is_asked_about_it(kind: type[Picky], family: str) -> None:
    tally = fuzz(kind()).tally
    assert tally.asked[family] > 200
    assert tally.families[family] >= 0.9 * tally.asked[family]


@pytest.mark.slow
def test_one_decoder_that_is_refused_is_left_out() -> None:
    kinds = set[Any]()
    for seed in (2, 7):
        adapter = NoStripping()
        tally = fuzz(adapter, seed=seed).tally
        assert min(tally.families[family] / tally.asked[family] for family in tally.asked) >= 0.9
        refused = [is_offered for _, is_offered in adapter.loaded[-100:] if not is_offered]
        assert refused == []
        kinds |= {model.get("decoder", {}).get("type") for model, is_offered in adapter.loaded if is_offered}
    assert kinds >= {"byte_level", "metaspace", "wordpiece", "fuse", "replace", "sequence"}


class OneStage(Picky):
    """Cuts by one pattern, and knows no model."""

    def offers(self, model: Mapping[str, Any]) -> bool:
        part = {"invert": False, **starts("stages")[-5]["pre_tokenizer"]}
        return model == {"pre_tokenizer": part}


class OneStageAndBpe(OneStage):
    """Knows one pattern, and BPE without any stage: other families are closed as well."""

    def offers(self, model: Mapping[str, Any]) -> bool:
        return super().offers(model) or (model.get("type") == "bpe" and not model.keys() & set(STAGES))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [OneStage, OneStageAndBpe])
@pytest.mark.parametrize("seed", range(1, 6))
def test_all_usual_stages_are_tried(seed: int, kind: type[Picky]) -> None:
    assert fuzz(kind(), 300, seed).tally.families["stages"] > 10


class FewFlaws(Picky):
    """Refuses most models that are broken on purpose as unsupported."""

    def offers(self, model: Mapping[str, Any]) -> bool:
        return model not in BROKEN or model in BROKEN[::9]


@pytest.mark.slow
def test_a_broken_model_that_is_refused_as_unsupported_is_not_asked_again() -> None:
    adapter = FewFlaws()
    tally = fuzz(adapter, 400).tally
    refused = Counter(str(model) for model, is_offered in adapter.loaded if not is_offered)
    assert len(refused) > 2
    assert max(refused.values()) == 2  # one that was drawn before the survey is asked again by it
    assert tally.families["broken"] >= 0.9 * tally.asked["broken"]


class NoStagesAlone(Picky):
    """Offers models, fails at some stages without one, and refuses the others."""

    def load(self, format: str, content: Any) -> Any:
        if "type" not in content and "normalizer" in content:
            raise RuntimeError("no model")
        return super().load(format, content)

    def offers(self, model: Mapping[str, Any]) -> bool:
        return "type" in model


@pytest.mark.slow
def test_errors_alone_do_not_say_that_a_family_is_offered() -> None:
    made = Campaign(Checker(Side(lambda: InProcessSession(NoStagesAlone()))), 1, Budget(examples=200))
    made.run()
    assert len(made.findings) > 0
    assert made.tally.asked["stages"] > 3
    assert made.tally.families["stages"] == 0


@pytest.mark.slow
def test_drawing_comes_to_the_same_with_the_same_seed() -> None:
    assert fuzz(Bert(), 80, seed=5).tally == fuzz(Bert(), 80, seed=5).tally


def test_what_answers_nothing_is_named() -> None:
    made = fuzz(Picky(), 60, families=("bpe", "unigram"))
    asked = made.tally.asked
    count = asked["bpe"] + asked["unigram"]
    assert min(asked["bpe"], asked["unigram"]) > 3
    assert total(made, "mine 1") == (
        f"mine 1: 0 findings in 60 examples, {count} requests = 0 alike + 0 differ + {count} unsupported; 0 % answered; "
        f"not answered: bpe 0 of {asked['bpe']}, unigram 0 of {asked['unigram']}"
    )


class Wrong(Gpt2):
    """Loses the last token of what it encodes."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        result = super().run(operation, model, input)
        return {key: value[:-1] for key, value in result.items()} if operation == "encode" else result


@pytest.mark.slow
def test_what_was_found_after_a_survey_is_asked_first_the_next_time(tmp_path: Path) -> None:
    def campaign(adapter: Picky, **budget: Any) -> Campaign:
        checker = Checker(Side(lambda: InProcessSession(adapter)))
        return Campaign(checker, 1, Budget(**budget), ("bpe-bytes",), enough=1, database=tmp_path)

    first, again, mended, over = (
        campaign(Wrong(), examples=300),
        campaign(Wrong(), seconds=0.0),
        campaign(Gpt2(), seconds=0.0),
        campaign(Wrong(), seconds=0.0),
    )
    found = [[each.question.key for each in made.run()] for made in (first, again, mended, over)]
    assert len(found[0]) == 1
    assert found[1:] == [found[0], [], []]


@pytest.mark.parametrize("family", PIPELINES)
def test_the_usual_pipelines_are_models_that_the_reference_answers(family: str) -> None:
    reference = Side(lambda: InProcessSession(ReferenceAdapter()))
    for model in starts(family):
        assert list(schema.errors(model, "model")) == []
        (replies,) = reference.ask(model, [("encode", {"text": "ab"})])
        assert [type(reply).__name__ for reply in replies] == ["Answer"]


def surveyed(adapter: Picky, *families: str) -> Survey:
    side = Side(lambda: InProcessSession(adapter))
    return survey(adapter.hello(), Checker(side).replies, families, lambda: False)


class FewNormalizers(Picky):
    """Knows WordPiece without NFC, and no decoder that cleans up."""

    def offers(self, model: Mapping[str, Any]) -> bool:
        cleans = model.get("decoder", {}).get("cleanup")
        return model.get("type") == "wordpiece" and model.get("normalizer") != {"type": "nfc"} and not cleans

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        if input.get("pair"):
            raise Unsupported("one text alone")
        return super().run(operation, model, input)


def test_what_was_refused_is_left_out_and_nothing_else() -> None:
    found = surveyed(FewNormalizers(), "wordpiece", "bpe")
    model = {
        "type": "wordpiece",
        "vocabulary": ["[UNK]", "a"],
        "normalizer": {"type": "nfc"},
        "decoder": {"type": "wordpiece", "cleanup": True},
    }
    fitted = {**model, "decoder": {"type": "wordpiece"}}
    del fitted["normalizer"]
    assert (found.fit("wordpiece", model, 0), found.fit("wordpiece", fitted, 0)) == (fitted, fitted)
    asked = [("encode", {"text": "a"}), ("encode", {"text": "b", "pair": "a", "add_special_tokens": False})]
    left = [asked[0], ("encode", {"text": "b", "add_special_tokens": False})]
    assert found.worth_asking("wordpiece", fitted, asked) == left
    assert found.worth_asking("wordpiece", model, asked) == []
    assert found.open_families(("wordpiece", "bpe")) == ("wordpiece",)
    assert list(found.closed) == ["bpe"]
    assert found.closed["bpe"] > 5


def test_a_survey_of_who_answers_everything_refuses_nothing() -> None:
    families = tuple(FAMILIES)
    found = surveyed(Everything(), *families)
    assert (found.refused, found.closed) == (dict.fromkeys(families, frozenset()), {})


def test_a_survey_is_small() -> None:
    adapter = Everything()
    surveyed(adapter, *FAMILIES)
    assert 300 < len(adapter.loaded) < 700


class Everything(Picky):
    """Knows all models."""

    def offers(self, model: Mapping[str, Any]) -> bool:
        return True


def test_merges_are_made_to_follow_from_the_ranks_whatever_the_order_of_the_list() -> None:
    found = surveyed(RankedBpe(), "bpe")
    model = {
        "type": "bpe",
        "vocabulary": [["abb", 4], ["ab", 2], ["b", 1], ["a", 0], ["bb", 3]],
        "merges": [["b", "b"], ["a", "b"], ["ab", "b"]],
    }
    assert found.fit("bpe", model, 0) == {**model, "merges": [["a", "b"], ["b", "b"], ["ab", "b"]]}


class RankedBpe(Picky):
    """Knows BPE whose merges follow from the ranks of the tokens."""

    def offers(self, model: Mapping[str, Any]) -> bool:
        if model.get("type") != "bpe":
            return False
        ranks = {entry if isinstance(entry, str) else entry[0]: entry for entry in model["vocabulary"]}
        by_rank = sorted(ranks, key=lambda token: [*ranks].index(token) if ranks[token] == token else ranks[token][1])
        return [tuple(pair) for pair in model.get("merges", ())] == list(merges_of(by_rank))


def test_features_of_a_request_say_what_is_often_refused() -> None:
    model = {"type": "bpe", "vocabulary": ["a", "Ã"], "merges": [], "decoder": {"type": "byte_level"}}
    assert request_features(model, "decode", {"ids": [0, 7]}) == {"operation decode of bpe", "decode ids", "unknown id"}
    assert "not UTF-8" in request_features(model, "decode", {"tokens": ["Ã"]})
    assert "surrogate in a text" in request_features(model, "encode", {"text": "\ud800"})
    assert "normalize without its stage text" in request_features(model, "normalize", {"text": "a"})
