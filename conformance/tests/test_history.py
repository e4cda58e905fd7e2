"""The history of an implementation: each release judged once, and what it changed told by cause."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from tokspec.adapters.registry import FoundAdapter, find
from tokspec.base.errors import DataError
from tokspec.cli import tokspec as group
from tokspec.compare import history as module
from tokspec.compare.history import first_and_newest, history, json_history, releases, text_history
from tokspec.suite.cases import Suite
from tokspec.suite.fixtures import load_suite

CASES = load_suite().cases
SUITE = Suite({id: CASES[id] for id in ("bpe-toy-encode-bug", "bpe-toy-encode-mug", "bpe-toy-encode-hugs")}, "ab" * 32)

#: An adapter whose releases differ: the first gives one token for everything, the second is right about "bug", the third
#: offers decoding alone.
ADAPTER = """
from tokspec.adapter import Hello
class Adapter:
    version = {version!r}
    def hello(self):
        operations = ("decode",) if self.version == "3.0" else ("encode",)
        return Hello("mine", self.version, "Python", operations, encode_fields=("tokens",))
    def load(self, format, content):
        return content
    def run(self, operation, model, input):
        right = self.version == "2.0" and input["text"] == "bug"
        return {{"tokens": ["b", "ug"] if right else [input["text"]]}}
"""


@pytest.fixture(autouse=True)
def releases_of_mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three releases of an adapter, and a fourth that cannot be had."""
    monkeypatch.setenv("TOKSPEC_CACHE", str(tmp_path / "cache"))
    for number in (1, 2, 3):
        (tmp_path / f"mine{number}.py").write_text(ADAPTER.format(version=f"{number}.0"))

    def found(spec: str) -> FoundAdapter:
        if spec == "mine==4.0":
            raise DataError("cannot be installed: no such release", key=spec)
        if not spec.startswith("mine=="):
            return find(spec)
        return FoundAdapter(spec, f"mine{spec[6]}:Adapter", "", (str(tmp_path),))

    monkeypatch.setattr(module, "find", found)
    monkeypatch.setattr(module, "adapter_digest", lambda name: "01234567")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.slow
def test_a_release_is_told_by_what_it_changed() -> None:
    found = list(history("mine", ["1.0", "2.0", "4.0", "3.0"], SUITE))
    assert list(text_history(found, 3)) == [
        "1.0         0 of 3 pass: no release before it was judged",
        "2.0         1 of 3 pass: 1 fixed",
        "    fixed          fail → pass: encode: does not cut where the case does, at letters (latin): bpe-toy-encode-bug",
        "4.0         mine==4.0: cannot be installed: no such release",
        "3.0         0 of 0 pass: 1 lost, 2 fixed",
        "    lost           pass → unsupported: does not offer encode: bpe-toy-encode-bug",
        "    fixed          fail → unsupported: encode: does not cut where the case does, at letters (latin): "
        "bpe-toy-encode-hugs",
        "    fixed          fail → unsupported: encode: not the unknown token where the case has it: bpe-toy-encode-mug",
    ]
    # all three are wrong in 1.0 and not offered in 3.0, which counts as fixed
    assert (first_and_newest(found), first_and_newest(found[:3])) == ("from 1.0 to 3.0: 3 fixed", "")
    assert list(text_history([found[2], replace(found[2], version="5.0")], 3)) == [
        "4.0 to 5.0  2 releases; the last: mine==4.0: cannot be installed: no such release"
    ]
    written = json_history({"mine": found}, SUITE)
    assert json.loads(json.dumps(written)) == written
    (mine,) = written["implementations"]
    assert mine["releases"][1] == {
        "version": "2.0",
        "counts": {"pass": 1, "fail": 2},
        "changes": [
            {
                "change": "fixed",
                "verdicts": "fail → pass",
                "cause": "encode: does not cut where the case does, at letters (latin)",
                "cases": ["bpe-toy-encode-bug"],
            }
        ],
    }
    assert mine["releases"][2] == {"version": "4.0", "fault": "mine==4.0: cannot be installed: no such release"}


@pytest.mark.slow
def test_what_another_version_has_kept_is_asked_again(tmp_path: Path) -> None:
    list(history("mine", ["1.0"], SUITE))
    (file,) = (tmp_path / "cache").rglob("*.ndjson")
    whole = file.read_text("utf-8")
    file.write_text(whole.replace('"implementation":{', '"implementation":{"later":1,', 1), "utf-8")
    (release,) = history("mine", ["1.0"], SUITE)
    assert (release.asked, release.fault) == (3, "")


@pytest.mark.slow
def test_only_what_is_new_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(suite: Suite) -> list[int]:
        return [release.asked for release in history("mine", ["1.0", "2.0"], suite)]

    assert asked(SUITE) == [3, 3]
    assert asked(SUITE) == [0, 0]
    more = {**SUITE.cases, "bpe-toy-encode-thug": CASES["bpe-toy-encode-thug"]}
    assert asked(replace(SUITE, cases=more)) == [1, 1]
    bug = SUITE.cases["bpe-toy-encode-bug"]
    changed = {**more, bug.id: replace(bug, outcome={"expect": {"tokens": ["bug"]}})}
    assert asked(replace(SUITE, cases=changed)) == [1, 1]
    monkeypatch.setattr(module, "adapter_digest", lambda name: "another")
    assert asked(replace(SUITE, cases=changed)) == [4, 4]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nobody", "nobody: is not a library whose releases can be listed; "),
        ("reference", "reference: has no releases of its own: it needs no package"),
        ("kitoken", "kitoken: cargo lists no releases; name them, as in kitoken==1.2.3"),
    ],
)
def test_what_has_no_releases_is_refused(name: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        releases(name)
    assert str(caught.value).startswith(message)


def test_a_release_that_is_not_listed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokspec.compare.history_command.releases", lambda name: ["1.0", "2.0"])
    done = CliRunner().invoke(group, ["history", "mine", "--from", "9"])
    assert str(done.exception) == "--from: is not a release of mine; there are 1.0, 2.0"


def test_releases_are_named_or_all(monkeypatch: pytest.MonkeyPatch) -> None:
    command = "tokspec.compare.history_command"
    monkeypatch.setattr(f"{command}.releases", lambda name: ["1.0", "2.0", "3.0"])
    asked: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(f"{command}.history", lambda name, versions, suite: asked.append((name, versions)) or ())
    done = CliRunner().invoke(group, ["history", "mine", "yours==1.0", "yours==1.5", "--last", "2"])
    assert asked == [("mine", ["2.0", "3.0"]), ("yours", ["1.0", "1.5"])]
    assert str(done.exception) == "mine yours==1.0 yours==1.5: none of the releases could be judged"
    done = CliRunner().invoke(group, ["history", "mine", "yours", "--from", "1.0"])
    assert "--from applies to one implementation; name only one" in str(done.exception) + done.output


@pytest.mark.interop
def test_two_releases_of_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """0.23.3 mends what 0.23.1 broke: of a text that is cut, what is left over."""
    monkeypatch.undo()
    done = CliRunner().invoke(group, ["history", "tokenizers", "--from", "0.23.2"])
    first, second, *changes = done.output.splitlines()[:4]
    assert first.startswith("0.23.2 ")
    assert second.startswith("0.23.3 ")
    assert "fixed" in second
    assert changes
