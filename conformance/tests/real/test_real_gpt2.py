"""GPT-2's vocabulary of 50,257 tokens: tokfast and twelve others, on every text of the suite.

It comes in two forms: as ranks, in which nothing is special, and as the two files of its first publication, with the
one special token that they hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from asking import TEXTS, Encoded, differing, of_published, of_tokfast, refused
from published import BYTE_LEVEL, encoded_in_node, gpt2_folder, model_file, tiktoken_encoding

from tokspec.formats import read
from tokspec.formats.on_disk import content_of

pytestmark = pytest.mark.interop

END = "<|endoftext|>"
RANKS: Mapping[str, Any] = BYTE_LEVEL
STAGES = {**BYTE_LEVEL, "special_tokens": [END]}

#: Whoever makes the tokens of tiktoken of every text, by what the list of adapters calls it.
AGREEING = (
    "tokenizers",
    "ffbpe",
    "adapters/node/adapter.mjs",
    "node-llama-cpp/adapter.mjs",
    "bin/pkoukk",
    "release/tiktoken-rs",
)

#: In these texts the order in which equal merges of a run are done shows.
RUNS = {
    *("all/joined", "all/lines", "code/brackets", "code/brainfuck", "code/c", "code/go", "code/javascript"),
    *("code/markdown", "code/python", "long/a", "long/dots", "long/equals-signs", "long/hyphens", "long/laughter"),
    *("long/zeros", "numbers/decimals", "special_tokens/headers", "white_space/line-feed"),
    *("white_space/only-line-feeds", "words/hesitation"),
}
#: And in these a run of white space stands before a word, or before punctuation.
WHITE = {
    *("white_space/no-break", "white_space/ogham", "white_space/wide-ones-in-a-run"),
    "white_space/between-punctuation",
}
#: In these white space other than a space stands before an apostrophe.
APOSTROPHES = {"all/joined", "all/lines", "white_space/before-apostrophes"}
#: And in this one equal merges follow each other in Korean letters that are taken apart.
JAMO = {"scripts/korean-jamo"}
#: Those in which the special token is.
SPECIAL = {text for text, content in TEXTS.items() if END in content}
#: Those in which it is not at the start.
SPECIAL_LATER = {"all/joined", "all/lines", "special_tokens/end-of-text-twice", "special_tokens/end-of-text-within"}

#: Who makes other tokens: the differing texts of each of the two forms, and what it does.
DIFFERING: Mapping[str, tuple[Mapping[str, set[str]], str]] = {
    "gpt-tokenizer/adapter.mjs": (
        {"ranks": set(), "files": SPECIAL_LATER},
        "it finds a special token at the start of a text only, or right after a first one and no further (ADDED-1)",
    ),
    "release/kitoken": (
        {"ranks": APOSTROPHES, "files": APOSTROPHES},
        r"its pattern has \s? where GPT-2's has a space, so that a line feed is of one piece with the apostrophe after "
        "it, and 's at the start of a line is no contraction (PRE-BYTE-2)",
    ),
    "tokie": (
        {"ranks": APOSTROPHES, "files": APOSTROPHES},
        "its program for GPT-2's pattern finds no contraction behind a tab (PRE-BYTE-2)",
    ),
    "bin/sugarme": (
        {"ranks": RUNS | WHITE | JAMO, "files": RUNS | WHITE | JAMO | SPECIAL},
        "it does equal merges in no order (BPE-ENC-4), leaves no white space to a word (PRE-BYTE-2), and loses special "
        "tokens (ADDED-1)",
    ),
}

#: Who refuses: a part of what it says, and the texts.
REFUSING: Mapping[str, tuple[str, Mapping[str, set[str]]]] = {
    "Jtokkit": ("special tokens is not supported", {"ranks": set(), "files": SPECIAL}),
}

Form = tuple[str, Mapping[str, Any], Encoded]


@pytest.fixture(scope="module", params=["ranks", "files"])
def form(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Form:
    """Return a form's name, its model, and what tiktoken makes of every text."""
    name, encoding = str(request.param), tiktoken_encoding("r50k_base")
    if name == "ranks":
        model = read("vocab.tiktoken", {**content_of("vocab.tiktoken", model_file("r50k_base")), "beside": RANKS})
        encoded = {text: encoding.encode_ordinary(content) for text, content in TEXTS.items()}
    else:
        folder = gpt2_folder(tmp_path_factory.mktemp("gpt2"))
        content = content_of("vocab.json+merges.txt", folder / "encoder.json")
        model = read("vocab.json+merges.txt", {**content, "beside": STAGES})
        encoded = {text: encoding.encode(content, allowed_special="all") for text, content in TEXTS.items()}
    tokens = model["vocabulary"]
    return name, model, {text: [tokens[id] for id in ids] for text, ids in encoded.items()}


def test_the_ranks_are_the_two_files(tmp_path: Path) -> None:
    ranks = read("vocab.tiktoken", {**content_of("vocab.tiktoken", model_file("r50k_base")), "beside": RANKS})
    files = read("vocab.json+merges.txt", content_of("vocab.json+merges.txt", gpt2_folder(tmp_path) / "vocab.bpe"))
    assert files["merges"] == ranks["merges"]
    assert files["vocabulary"] == [*ranks["vocabulary"], END]
    assert (len(files["merges"]), len(files["vocabulary"])) == (50_000, 50_257)


@pytest.mark.parametrize(
    "choices",
    [{"bpe_pairs": "in_vocabulary"}, {"bpe_merge_order": "lowest_rank"}, {}],
    ids=["by ranks", "by merges", "by each merge once"],
)
def test_tokfast_agrees(form: Form, choices: dict[str, str]) -> None:
    """With merges in the order of training all three are the same."""
    _, model, expected = form
    assert of_tokfast(model, **choices) == expected
    assert len(expected) == len(TEXTS)
    assert sum(map(len, expected.values())) > 47_000


@pytest.mark.parametrize("name", AGREEING)
def test_others_agree(form: Form, name: str) -> None:
    _, model, expected = form
    found = of_published(name, model)
    assert differing(found, expected) == set()
    assert refused(found) == {}


@pytest.mark.parametrize("name", REFUSING)
def test_others_agree_or_refuse(form: Form, name: str) -> None:
    kind, model, expected = form
    message, texts = REFUSING[name]
    found = of_published(name, model)
    assert differing(found, expected) == set()
    assert refused(found).keys() == texts[kind]
    assert all(message in said for said in refused(found).values())


@pytest.mark.parametrize("name", DIFFERING)
def test_others_differ_where_it_is_known(form: Form, name: str) -> None:
    kind, model, expected = form
    found = of_published(name, model)
    assert differing(found, expected) == DIFFERING[name][0][kind]
    assert refused(found) == {}


@pytest.mark.parametrize("encoding", ["r50k_base", "gpt-3-encoder"])
def test_what_packages_have_built_in_agrees(encoding: str) -> None:
    tiktoken = tiktoken_encoding("r50k_base")
    expected = {text: tiktoken.encode_ordinary(content) for text, content in TEXTS.items()}
    assert dict(zip(TEXTS, encoded_in_node(encoding, [*TEXTS.values()]), strict=True)) == expected
