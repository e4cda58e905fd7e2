"""Whether an implementation refuses a request as unsupported depends on what it offers, never on what it would answer.

Whatever an adapter refuses is asked again with the plainest of inputs. If that is answered, the refusal looked at the
input; then it may only have been that the library cannot be given such an input at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tokspec.adapters.registry import open_session
from tokspec.protocol.messages import Refused, Request
from tokspec.results.rows import Listed, read_list
from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite

pytestmark = pytest.mark.interop

LISTED = read_list(Path(__file__).parents[1] / "adapters" / "adapters.yaml")

#: What no call of a library can be given: its strings, numbers, ids or corpora do not hold it; or an option that it has not.
#: And a token that a file has to have, and the model has not, is no answer.
FORMS = re.compile(
    r"lone surrogate"
    # What the suite does not ask, because the file of the model says something else about it.
    r"|must have an unknown token|must have tokens that this model does not have|puts '▁' before every text"
    r"|takes text, and no \{\"hex\"|into Go struct field Input.input.\w+ of type string|Expected STRING but was BEGIN_OBJECT"
    r"|(takes ids of (31|32|64) bits|takes a list of ids|decodes ids)"
    r"|represents no bytes$"
    r"|takes (a text|texts), and a word with the count 0 stands in none"
    r"|takes (a text|texts), so a word is repeated by its count, but the counts add up to more than \d+"
    r"|has a target for (merges|tokens) alone|needs a number of merges"
    r"|has (no|a) least frequency"
    r"|trains on one text"
    r"|counts all the pairs of words, before any merge"
    r"|has no special tokens, and (there is one in this text|an id is that of one)$"
    r"|joins the pieces of a word by their ids$"
    r"|reserves memory for its target at once"
    r"|does not know the option \w+ of \w+$"
    r"|allows no special token, and disallows all or none$"
    r"|finds all special tokens in a text or none$"
    r"|refuses all special tokens that are not allowed, and no others$"
    r"|adds what its post-processor adds where not all special tokens are found$"
    r"|gigatoken always recognizes special tokens while encoding, so "
)

PLAIN: Mapping[str, Any] = {
    "normalize": {"text": "a"},
    "pre_tokenize": {"text": "a"},
    "encode": {"text": "a"},
    "train": {"corpus": {"words": [["ab", 2]]}, "merge_count": 1},
    "training_trace": {"corpus": {"words": [["ab", 2]]}, "merge_count": 1},
    "best_pair": {"corpus": {"words": [["ab", 2]]}},
    "pair_frequencies": {"corpus": {"words": [["ab", 2]]}},
}


def plain(case: Case) -> Mapping[str, Any] | None:
    """Return a plain input of the same operation, which any implementation that offers it answers."""
    if case.operation == "decode":
        tokens = [*case.model.content.get("vocabulary", ()), *(t for t, _ in case.model.content.get("tokens", ()))]
        return {"ids": [0]} if tokens else {"tokens": ["a"]}
    return PLAIN.get(case.operation)


def refusals(listed: Listed) -> Iterator[tuple[str, str]]:
    """Return cases that are refused as unsupported though a plain input is not, with what is said."""
    cases = [question for case in load_suite().cases.values() for question in case.questions]
    with open_session(listed.impl, listed.command) as session:
        requests = [Request(case.operation, case.model.name, case.model.content, case.input) for case in cases]
        refused = [
            (cases[index], reply.message)
            for index, reply in session.ask(requests)
            if isinstance(reply, Refused) and reply.reason == "unsupported" and plain(cases[index])
        ]
        again = [Request(case.operation, case.model.name, case.model.content, plain(case) or {}) for case, _ in refused]
        for index, reply in session.ask(again):
            if not (isinstance(reply, Refused) and reply.reason == "unsupported"):
                yield refused[index][0].id, refused[index][1]


@pytest.mark.parametrize("listed", LISTED, ids=lambda listed: listed.name.split("/")[-1])
def test_a_refusal_does_not_depend_on_the_text(listed: Listed) -> None:
    assert listed.missing() == ""
    assert [(case, said) for case, said in refusals(listed) if not FORMS.search(said)] == []
