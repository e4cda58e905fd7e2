"""The loader of fixtures: what it gives, and every refusal with file, line and key."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tokspec import __version__
from tokspec.base.errors import DataError
from tokspec.base.files import fixtures_folder
from tokspec.compare.inputs import files_of_texts
from tokspec.suite.cases import Model
from tokspec.suite.fixtures import load_suite

HEAD = """\
about: "A file for a test."
source: [{rule: "a test"}]
model: toy
cases:
"""

CASE = """\
  - id: one-case
    clauses: [BPE-ENC-1]
    why: "It is needed for a test."
    operation: encode
    input: {text: "a"}
    expect: {tokens: ["a"]}
    verified_by: ["hand"]
"""


def suite(folder: Path, text: str) -> None:
    (folder / "models").mkdir(exist_ok=True)
    (folder / "models" / "toy.yaml").write_text('about: "A model."\ntype: bpe\nvocabulary: ["a"]\nmerges: []\n')
    (folder / "x.yaml").write_text(text)


def refusal(folder: Path, text: str) -> str:
    suite(folder, text)
    with pytest.raises(DataError) as caught:
        load_suite(folder)
    return str(caught.value)


def test_a_case_is_loaded_whole(tmp_path: Path) -> None:
    suite(tmp_path, HEAD + CASE)
    loaded = load_suite(tmp_path)
    assert list(loaded.cases) == ["one-case"]
    case = loaded.cases["one-case"]
    assert case.model == Model("toy", {"type": "bpe", "vocabulary": ["a"], "merges": []})
    assert (case.operation, case.input, case.outcome) == ("encode", {"text": "a"}, {"expect": {"tokens": ["a"]}})
    assert (case.file, case.line, case.source) == ("x.yaml", 5, ({"rule": "a test"},))


def test_cases_share_a_model_that_their_file_names(tmp_path: Path) -> None:
    suite(tmp_path, NAMED + TWO)
    named = Model("x.yaml:toy-two", {"type": "bpe", "vocabulary": ["a", "b"], "merges": [["a", "b"]]})
    assert [case.model for case in load_suite(tmp_path).cases.values()] == [named, named]


def test_a_file_may_name_a_model_as_that_of_all_its_cases(tmp_path: Path) -> None:
    suite(tmp_path, NAMED.replace("model: toy", "model: toy-two") + CASE + CASE.replace("one-case", "two"))
    assert {case.model.name for case in load_suite(tmp_path).cases.values()} == {"x.yaml:toy-two"}


def test_files_may_name_different_models_alike(tmp_path: Path) -> None:
    (tmp_path / "y.yaml").write_text((NAMED + TWO).replace("id: ", "id: y-").replace('["a", "b"],', '["b", "a"],'))
    suite(tmp_path, NAMED + TWO)
    vocabularies = {case.model.name: case.model.content["vocabulary"] for case in load_suite(tmp_path).cases.values()}
    assert vocabularies == {"x.yaml:toy-two": ["a", "b"], "y.yaml:toy-two": ["b", "a"]}


def test_bytes_are_read_as_text(tmp_path: Path) -> None:
    suite(tmp_path, HEAD + CASE.replace('{text: "a"}', '{text: {hex: "eda080"}}'))
    assert load_suite(tmp_path).cases["one-case"].input == {"text": "\ud800"}


BY_CHOICE = CASE.replace(
    'expect: {tokens: ["a"]}',
    'by_choice: {unigram_tie: {any: {expect: {tokens: ["a"]}}, earliest_start: {expect: {tokens: ["a"]}}}}',
)

#: A file whose two cases share a model that it names.
NAMED = HEAD.replace(
    "cases:", 'named_models:\n  toy-two: {type: bpe, vocabulary: ["a", "b"], merges: [["a", "b"]]}\ncases:'
)
TWO = "".join(
    CASE.replace("one-case", id).replace("    operation", "    model: toy-two\n    operation")
    for id in ("one-case", "two")
)

NO_HEX = "is not UTF-8 in hexadecimal digits"

REFUSALS = [
    ("about: 1\n", "x.yaml:1: lacks the key source"),
    (HEAD.replace("cases:", "cases: []"), "x.yaml:4: cases: [] has less than 1 item"),
    (HEAD + CASE + CASE, "x.yaml:12: cases[1].id: one-case is used by x.yaml:5; ids are unique"),
    (HEAD + CASE.replace("encode", "encoed"), 'x.yaml:8: cases[0].operation: "encoed" is not one of the values; did you mean encode?'),
    (HEAD + CASE + "    wy: \"x\"\n", "x.yaml:12: cases[0].wy: is an unknown key; did you mean why?"),
    (HEAD + CASE.replace('why: "It is needed for a test."', 'why: ""'), 'x.yaml:7: cases[0].why: "" is shorter than 10 characters'),
    (HEAD + CASE.replace("    expect: {tokens: [\"a\"]}\n", ""), "x.yaml:5: cases[0]: needs exactly one of expect, one_of, by_choice, error"),
    (HEAD + CASE + "    error: unknown_symbol\n", "x.yaml:5: cases[0]: needs exactly one of expect, one_of, by_choice, error"),
    (HEAD + CASE.replace("expect: {tokens: [\"a\"]}", "error: bad_luck"), 'x.yaml:10: cases[0].error: "bad_luck" is not one of the values; known are unknown_symbol, no_segmentation, unknown_id, invalid_model, invalid_input'),
    (HEAD + CASE.replace("{tokens: [\"a\"]}", "{tokens: [1]}"), "x.yaml:10: cases[0].expect.tokens[0]: 1 is not of types \"string\", \"object\""),
    (HEAD + CASE.replace("{text: \"a\"}", "{txt: \"a\"}"), "x.yaml:9: cases[0].input.txt: is an unknown key; did you mean text?"),
    (HEAD + CASE.replace("BPE-ENC-1", "BPE-ENC-999"), "x.yaml:6: cases[0].clauses[0]: BPE-ENC-999 is not a live clause of the specification"),
    (HEAD.replace("toy", '"../../secret"') + CASE, "x.yaml:3: model: '../../secret' is not a valid name; names are lowercase words joined by hyphens"),
    (HEAD.replace("toy", "tyo") + CASE, "x.yaml:3: model: names tyo, but there is no file models/tyo.yaml"),
    (NAMED.replace("toy-two", "toy") + TWO.replace("toy-two", "toy"), "x.yaml:5: named_models.toy: is also the name of models/toy.yaml; choose another, or use that model"),
    (NAMED + CASE, "x.yaml:5: named_models.toy-two: is not used by any case; remove it"),
    (NAMED + TWO.partition("  - id: two")[0], "x.yaml:5: named_models.toy-two: is used only by one-case; write the model there"),
    (NAMED + TWO + CASE.replace("one-case", "other").replace("    operation", "    model: toy-tow\n    operation"), "x.yaml:26: cases[2].model: names toy-tow, but there is no file models/toy-tow.yaml, and named_models has toy-two"),
    (NAMED.replace("toy-two", "Toy_two") + CASE, 'x.yaml:5: named_models: "Toy_two" does not match "^[a-z0-9]+(-[a-z0-9]+)*$"'),
    (NAMED.replace("merges", "merge") + TWO, "x.yaml:5: named_models.toy-two.merge: is an unknown key; did you mean merges?"),
    (NAMED.replace('"b"', '{hex: "ff"}') + TWO, f"x.yaml:5: named_models.toy-two.vocabulary[1].hex: {NO_HEX}"),
    (HEAD.replace("cases:", "named_models: {}\ncases:") + CASE, "x.yaml:4: named_models: {} has less than 1 property"),
    (HEAD.replace("model: toy\n", "") + CASE, "x.yaml:4: cases[0]: has no model; give the case or the file one, {} if it needs none"),
    (HEAD.replace("model: toy", "model: {type: unigram, size: 3}") + CASE, "x.yaml:3: model.size: is an unknown key; known are about, added_tokens, byte_fallback, decoder, normalizer, padding, piece_types, post_processor, pre_tokenizer, special_tokens, tokens, truncation, type, unknown_token, weights"),
    (HEAD.replace("model: toy", 'model: {type: bpe, vocabulary: [["a", 1, 2]]}') + CASE, "x.yaml:3: model.vocabulary[0][2]: 2 is not allowed here; leave it out"),
    (HEAD.replace("model: toy", 'model: {post_processor: {type: template, single: [{}], pair: [{sequence: "A"}], special_tokens: []}}') + CASE, "x.yaml:3: model.post_processor.single[0]: has none of the allowed forms: lacks the key special; or lacks the key sequence"),
    (HEAD.replace("model: toy", 'model: {post_processor: {type: template, single: [{sequence: "A", special: "x"}], pair: [{sequence: "A"}], special_tokens: []}}') + CASE, "x.yaml:3: model.post_processor.single[0]: has more than one of the allowed forms; keep one"),
    (HEAD.replace("model: toy", 'model: {type: bpe, vocabulary: [["a", 3], "b"]}') + CASE, 'x.yaml:3: model.vocabulary[1]: "b" is not of type "array"'),
    (HEAD.replace("model: toy", 'model: {type: bpe, vocabulary: ["a", ["b", 3]]}') + CASE, 'x.yaml:3: model.vocabulary[1]: ["b",3] is not of types "string", "object"'),
    (HEAD + CASE.replace('{tokens: ["a"]}', '{tokens: ["a"], ids: []}'), "x.yaml:10: cases[0].expect.ids: has 0 entries, and tokens has 1; both have one a token"),
    (HEAD + CASE.replace('{tokens: ["a"]}', '{tokens: ["a"], overflowing: [{tokens: ["a"], type_ids: []}]}'), "x.yaml:10: cases[0].expect.overflowing[0].type_ids: has 0 entries, and tokens has 1; both have one a token"),
    (HEAD + CASE.replace('{text: "a"}', '{text: "a", pair: "b"}').replace('{tokens: ["a"]}', '{spans: [[0, 1]]}'), "x.yaml:10: cases[0].expect.spans: needs sequence_ids next to it, to say which text of the pair a span belongs to"),
    (HEAD + BY_CHOICE.replace('{text: "a"}', '{text: "a", pair: "b"}').replace('any: {expect: {tokens: ["a"]}}', 'any: {expect: {spans: [[0, 1]]}}'), "x.yaml:10: cases[0].by_choice.unigram_tie.any.expect.spans: needs sequence_ids next to it, to say which text of the pair a span belongs to"),
    (HEAD + CASE.replace('{tokens: ["a"]}', '{tokens: ["a"], spans: [[1, 0]]}'), "x.yaml:10: cases[0].expect.spans[0]: [1, 0] is not a span of a text of 1 code points"),
    (HEAD + CASE.replace('{text: "a"}', '{text: {hex: "eda080"}}').replace('{tokens: ["a"]}', '{tokens: ["a"], spans: [[0, 2]]}'), "x.yaml:10: cases[0].expect.spans[0]: [0, 2] is not a span of a text of 1 code points"),
    (HEAD + CASE.replace('{tokens: ["a"]}', '{ids: [9007199254740992]}'), "x.yaml:10: cases[0].expect.ids[0]: 9007199254740992 is beyond 2^53 - 1, so no message can contain it (PROTO-7)"),
    (HEAD + CASE.replace("encode", "encode_batch").replace('{text: "a"}', '{inputs: [{text: "a"}]}').replace('{tokens: ["a"]}', '{encodings: []}'), "x.yaml:10: cases[0].expect.encodings: has 0 entries, and inputs has 1"),
    (HEAD + CASE.replace("encode", "encode_batch").replace('{text: "a"}', '{inputs: [{text: "a", pair: "b"}]}').replace('{tokens: ["a"]}', '{encodings: [{spans: []}]}'), "x.yaml:10: cases[0].expect.encodings[0].spans: needs sequence_ids next to it, to say which text of the pair a span belongs to"),
    (HEAD + CASE.replace("encode", "decode_stream").replace('{text: "a"}', '{ids: [1, 2]}').replace('{tokens: ["a"]}', '{parts: ["a"]}'), "x.yaml:10: cases[0].expect.parts: has 1 entries, and ids has 2"),
    (HEAD + BY_CHOICE.replace("unigram_tie", "unigram_knot"), "x.yaml:10: cases[0].by_choice.unigram_knot: is not a choice of spec/08-choices.md"),
    (HEAD + BY_CHOICE.replace("any:", "whichever:"), "x.yaml:10: cases[0].by_choice.unigram_tie: needs an answer for each of any, earliest_start"),
    (HEAD + BY_CHOICE.replace('any: {expect: {tokens: ["a"]}}', 'any: {expect: {tokens: "a"}}'), 'x.yaml:10: cases[0].by_choice.unigram_tie.any.expect.tokens: "a" is not of type "array"'),
    (HEAD + CASE + "    stated: [{at: \"/tokens\", relation: erratum, printed: 1, erratum: E-999}]\n", "x.yaml:12: cases[0].stated[0]: E-999 is not in spec/errata.md"),
    (HEAD + CASE + "    source: [{document: \"x.txt\", section: \"y\"}]\n", "x.yaml:12: cases[0].source[0]: x.txt is not a document of spec/00-terms.md"),
    (HEAD + CASE + '    worked: [{at: "/tokens", from: "1 / 0"}]\n', "x.yaml:12: cases[0].worked[0].from: cannot be computed: division by zero"),
    (HEAD + CASE + '    worked: [{at: "/tokens", from: "9**9**9"}]\n', "x.yaml:12: cases[0].worked[0].from: is more than sums, products, quotients and log of numbers"),
    (HEAD + CASE + f'    worked: [{{at: "/tokens", from: "{"9" * 300} * {"9" * 300}"}}]\n', "x.yaml:12: cases[0].worked[0].from: cannot be computed: int too large to convert to float"),
    (HEAD + CASE + '    since: "9.9.9"\n', f"x.yaml:12: cases[0].since: 9.9.9 is later than this suite, {__version__}; no case is newer than its suite"),
    (HEAD + "  - 3\n", "x.yaml:5: cases[0]: 3 is not of type \"object\""),
    (HEAD + "  - null\n", "x.yaml:5: cases[0]: null is not of type \"object\""),
    (HEAD + '  - "abc"\n', 'x.yaml:5: cases[0]: "abc" is not of type "object"'),
    (HEAD.replace("cases:", "cases: 3"), 'x.yaml:4: cases: 3 is not of type "array"'),
    (HEAD + CASE.replace('{text: "a"}', '{text: {hex: "ff"}}'), f"x.yaml:9: cases[0].input.text.hex: {NO_HEX}"),
    (HEAD + CASE.replace('["a"]', '["a", {hex: "c3"}]'), f"x.yaml:10: cases[0].expect.tokens[1].hex: {NO_HEX}"),
    (HEAD + CASE + '    stated: [{at: "/tokens", relation: equal, printed: {hex: "z"}}]\n', f"x.yaml:12: cases[0].stated[0].printed.hex: {NO_HEX}"),
    (HEAD.replace("model: toy", 'model: {type: bpe, vocabulary: [{hex: "ff"}], merges: []}') + CASE, f"x.yaml:3: model.vocabulary[0].hex: {NO_HEX}"),
    (HEAD + CASE.replace('expect: {tokens: ["a"]}', 'one_of: [{tokens: ["a"], ids: [0]}, {tokens: ["a"]}]'), "x.yaml:10: cases[0].one_of[1]: needs the keys of the first, tokens, ids"),
    (HEAD + CASE.replace('expect: {tokens: ["a"]}', 'one_of: [{tokens: ["a"]}, {spans: [[0, 1]]}]'), "x.yaml:10: cases[0].one_of[1]: needs the keys of the first, tokens"),
    (HEAD + BY_CHOICE.replace('any: {expect: {tokens: ["a"]}}', 'any: {one_of: [{tokens: ["a"]}, {ids: [0]}]}'), "x.yaml:10: cases[0].by_choice.unigram_tie.any.one_of[1]: needs the keys of the first, tokens"),
    (HEAD.replace("toy", "a" * 5000) + CASE, f"x.yaml:3: model: names {'a' * 5000}, but there is no file models/{'a' * 5000}.yaml"),
    (HEAD + CASE.replace('{text: "a"}', '{corpus: toys}').replace("encode", "loss").replace('{tokens: ["a"]}', "{loss: 1}"), "x.yaml:9: cases[0].input.corpus: names toys, but there is no file corpora/toys.yaml"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSALS)
def test_refusals(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(tmp_path, text) == message


def test_links_do_not_leave_the_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text("about: 1\n")
    folder = tmp_path / "fixtures"
    folder.mkdir()
    (folder / "x.yaml").symlink_to(tmp_path / "secret.yaml")
    with pytest.raises(DataError) as caught:
        load_suite(folder)
    assert str(caught.value) == "x.yaml: is a link that leaves the folder of the fixtures; put the file itself there"


def test_a_link_to_itself(tmp_path: Path) -> None:
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    with pytest.raises(DataError) as caught:
        load_suite(tmp_path)
    assert str(caught.value) == "loop.yaml: is a link that leads nowhere; put the file itself there"


def test_what_is_no_ordinary_file(tmp_path: Path) -> None:
    suite(tmp_path, HEAD + CASE)
    (tmp_path / "y.yaml").mkdir()
    with pytest.raises(DataError) as caught:
        load_suite(tmp_path)
    assert str(caught.value) == "y.yaml: is not a regular file"


def test_the_hash_is_of_what_was_read(tmp_path: Path) -> None:
    suite(tmp_path, HEAD + CASE)
    first = load_suite(tmp_path).hash
    assert re.fullmatch("[0-9a-f]{64}", first)
    os.mkfifo(tmp_path / "models" / "unused")
    (tmp_path / "README.md").write_text("y", "utf-8")
    assert load_suite(tmp_path).hash == first


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("models/unused.yaml", "type: 3\n", "models/unused.yaml:1: type: 3 is not one of \"bpe\", \"wordpiece\" or 2 other candidates"),
        ("corpora/unused.yaml", "words: 7\n", "corpora/unused.yaml:1: words: 7 is not of type \"array\""),
        ("deeper/models/unused.yaml", "type: bpe\n", "deeper/models/unused.yaml:1: type: is an unknown key; known are about, cases, model, models, named_models, source"),
    ],
)  # fmt: skip
def test_what_no_case_names_is_checked_too(tmp_path: Path, file: str, text: str, message: str) -> None:
    suite(tmp_path, HEAD + CASE)
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(text, "utf-8")
    with pytest.raises(DataError) as caught:
        load_suite(tmp_path)
    assert str(caught.value) == message


@pytest.mark.parametrize("file", ["x.yaml", "models/toy.yaml"])
def test_the_hash_changes_with_what_was_read(tmp_path: Path, file: str) -> None:
    suite(tmp_path, HEAD + CASE)
    first = load_suite(tmp_path).hash
    with (tmp_path / file).open("a") as opened:
        opened.write("# more\n")
    assert load_suite(tmp_path).hash != first


def test_the_hash_changes_with_the_names(tmp_path: Path) -> None:
    suite(tmp_path, HEAD + CASE)
    first = load_suite(tmp_path).hash
    (tmp_path / "x.yaml").rename(tmp_path / os.fsdecode(b"\xff.yaml"))
    assert load_suite(tmp_path).hash != first


def test_a_folder_without_fixtures(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        load_suite(tmp_path)
    assert str(caught.value) == f"{tmp_path}: holds no fixture files (*.yaml)"
    with pytest.raises(DataError) as caught:
        load_suite(tmp_path / "nowhere")
    assert str(caught.value) == f"{tmp_path / 'nowhere'}: is not a folder; give one with fixture files in it"


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted(fixtures_folder().rglob("*.yaml")), ids=lambda file: file.stem)
def test_any_yaml_library_reads_the_same(file: Path) -> None:
    """A runner in another language uses its own library: PyYAML's pure loader stands for it here."""
    from tokspec.suite.strict_yaml import read_yaml

    assert yaml.load(file.read_text("utf-8"), Loader=yaml.SafeLoader) == read_yaml(file).value


def test_the_protocol_page_lists_the_operations_of_the_schema() -> None:
    from tokspec.base.files import specification_folder
    from tokspec.suite import schema

    text = (specification_folder() / "10-protocol.md").read_text("utf-8")
    rows = text.split("## Operations")[1].split("## Many texts at once")[0].splitlines()
    named = [row.split("`")[1] for row in rows if row.startswith("| `")]
    assert tuple(dict.fromkeys(named)) == schema.operations()


def test_reasons_of_the_schema_are_those_of_the_specification() -> None:
    from tokspec.suite.specification import load_specification

    schema = json.loads((fixtures_folder() / "schema.json").read_text("utf-8"))
    assert [*schema["$defs"]["reason"]["enum"], "unsupported"] == list(load_specification().reasons)


@pytest.mark.slow
def test_line_ends_of_windows_change_nothing(tmp_path: Path) -> None:
    """A checkout may have them, whatever `.gitattributes` says, as in an archive that was unpacked there."""
    ours = fixtures_folder()
    for file in ours.rglob("*.*"):
        copy = tmp_path / file.relative_to(ours)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert load_suite(tmp_path) == load_suite(ours)


def test_a_folder_that_cannot_be_read_is_not_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is root can read every folder, so that the system's own refusal stands in for one."""
    (tmp_path / "closed").mkdir()
    suite(tmp_path, HEAD + CASE)
    list_folder = os.scandir

    def scandir(folder: str) -> Any:
        if os.path.basename(folder) == "closed":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), folder)
        return list_folder(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(DataError) as caught:
        load_suite(tmp_path)
    assert str(caught.value) == f"{tmp_path / 'closed'}: cannot be read: Permission denied"
    with pytest.raises(DataError) as caught:
        list(files_of_texts([str(tmp_path)]))
    assert str(caught.value) == f"{tmp_path / 'closed'}: cannot be read: Permission denied"


def test_git_leaves_line_ends_as_they_are() -> None:
    assert "* text=auto eol=lf\n" in (fixtures_folder().parent / ".gitattributes").read_text("utf-8")


def formatted(*arguments: str | Path) -> tuple[int, str, str]:
    command = [sys.executable, fixtures_folder().parent / "conformance" / "format_fixtures.py", *arguments]
    finished = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=300)
    return finished.returncode, finished.stdout, finished.stderr


def test_fixtures_are_in_one_style() -> None:
    assert formatted("--check") == (0, "", "")


STYLED = """\
about: "One file."  # and a comment
"model": {"type": 'bpe', vocabulary: ["a", b, '\\ "', "no"], dropout: 0.5, ignore_merges: true}
models: {null_model: {weights: "null"}}

cases:
  # another comment
  - "id": "one-case"
    "clauses": ["ENC-1"]
    model: "../x"
    input: {allowed_special: "all", disallowed_special: ["all"], text: plain words}
    expect: {"frequencies": {ug: 3, "id": 1}}
    by_choice: {unknown_id: {"error": {"error": "unknown_id"}}}
    why: "Two
      lines, \\u200B."
choices: {bpe_pairs: "listed"}
cases_of_rows: {"a-case#2": {fault: "crash"}}
"""
STYLED_AFTER = """\
about: "One file."  # and a comment
model: {type: bpe, vocabulary: ["a", "b", "\\\\ \\"", "no"], dropout: 0.5, ignore_merges: true}
models: {null_model: {weights: "null"}}

cases:
  # another comment
  - id: one-case
    clauses: [ENC-1]
    model: "../x"
    input: {allowed_special: all, disallowed_special: ["all"], text: "plain words"}
    expect: {frequencies: {"ug": 3, "id": 1}}
    by_choice: {unknown_id: {error: {error: unknown_id}}}
    why: "Two
      lines, \\u200B."
choices: {bpe_pairs: listed}
cases_of_rows: {a-case#2: {fault: crash}}
"""


def test_formatting_changes_quotes_alone(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(STYLED, "utf-8")
    said = "x.yaml: is not formatted\nrun python conformance/format_fixtures.py\n"
    assert formatted("--check", tmp_path) == (1, said, "")
    assert (tmp_path / "x.yaml").read_text("utf-8") == STYLED
    assert formatted(tmp_path) == (0, "x.yaml: formatted\n", "")
    assert (tmp_path / "x.yaml").read_text("utf-8") == STYLED_AFTER
    assert formatted("--check", tmp_path) == (0, "", "")
    assert yaml.safe_load(STYLED_AFTER) == yaml.safe_load(STYLED)


def test_formatting_refuses_what_the_suite_does_not_read(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("a: no\n", "utf-8")
    said = "x.yaml:1: a: no means different things in YAML; put it in quotes\n"
    assert formatted(tmp_path) == (2, "", said)
