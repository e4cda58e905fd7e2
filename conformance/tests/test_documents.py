"""What the fixtures say that the documents print: the script that compares it, on a document of these tests."""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "documents"))
import compare

PAGE = """\
print("before")

# Training

The pairs are ("u" "g", 20) and then `("h", 15)`, that is \\frac{15}{210} = 0.071429

# Encoding
["b", "ug"]
"""
PRINTED = [["u", "g", 20], ["h", 15], "15/210", "0.071429"]
OTHERWISE = [["u", "g", 2], ["h", 5], "5/210", "0.07142", ["b", "ug"]]


@pytest.mark.parametrize("printed", PRINTED, ids=json.dumps)
def test_what_is_printed_is_found(printed: Any) -> None:
    assert compare.stands_in(printed, sections()["notebook", "Training"])


@pytest.mark.parametrize("printed", OTHERWISE, ids=json.dumps)
def test_what_is_not_printed_is_not_found(printed: Any) -> None:
    assert not compare.stands_in(printed, sections()["notebook", "Training"])


def sections(folder: Path | None = None) -> Mapping[tuple[str, str], str]:
    with tempfile.TemporaryDirectory() as temporary:
        (Path(temporary) / compare.FILES["notebook"]).write_text(PAGE, "utf-8")
        wanted = {("notebook", "Training"), ("notebook", "Encoding"), ("notebook", compare.BEFORE_HEADINGS)}
        return compare.read_sections(folder or Path(temporary), wanted)


def test_a_section_ends_where_the_next_begins() -> None:
    assert sections()["notebook", "Encoding"] == '# Encoding\n["b", "ug"]\n'
    assert sections()["notebook", compare.BEFORE_HEADINGS] == 'print("before")\n\n'


def test_a_document_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as caught:
        sections(tmp_path)
    assert (
        str(caught.value)
        == f"{tmp_path / compare.FILES['notebook']}: is not there; give the folder that holds the documents"
    )


@pytest.mark.slow
def test_every_printed_value_has_a_section_with_a_digest() -> None:
    digests = json.loads(compare.DIGESTS.read_text("utf-8"))
    assert {(document, heading) for document, headings in digests.items() for heading in headings} == compare.cited()
    assert [case for case, _, sections in compare.entries() if not sections] == []


def test_what_differs_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = {"at": "", "relation": "equal", "printed": ["u", "n", 16]}
    monkeypatch.setattr(compare, "entries", lambda: [("one-case", entry, [("notebook", "Training")])])
    texts = {("notebook", "Training"): PAGE}
    assert list(compare.findings(texts, {"notebook": {"Training": hashlib.sha256(b"").hexdigest()}})) == [
        "notebook, 'Training': another text than that of digests.json",
        'one-case: notebook does not print ["u", "n", 16]',
    ]
