"""``tokspec fuzz``: what it prints, keeps and returns; and the tests that a port inherits."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from click.testing import CliRunner

from tokspec.adapter import Hello, Refusal
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.base.errors import AdapterFault, DataError, Unsupported
from tokspec.fuzz.families import FAMILIES
from tokspec.fuzz.fuzz_command import fuzz_command
from tokspec.sessions.in_process import InProcessSession
from tokspec.sessions.session import Session
from tokspec.suite.specification import load_specification
from tokspec.testing import TokenizerTests, differences

pytestmark = pytest.mark.slow

CHOICES = load_specification().choices

ADAPTER = '''
import os
import pathlib
import signal

from tokspec.adapters.reference import ReferenceAdapter


class Adapter(ReferenceAdapter):
    """Loses the last token of what begins with two times a."""

    asked = 0

    def run(self, operation, model, input):
        result = dict(super().run(operation, model, input))
        self.asked += 1
        if self.asked == 1 and "SPOILS" in os.environ:
            pathlib.Path(os.environ["SPOILS"]).write_text("where a folder is to be")
        if self.asked == int(os.environ.get("INTERRUPTED_AT", "0")):
            os.kill(os.getpid(), signal.SIGINT)
        if operation == "encode" and result["tokens"][:2] == ["a", "a"]:
            result = {key: value[:-1] for key, value in result.items()}
        return result
'''

FINDING = """\
  or        BPE-ENC-2, BPE-ENC-3, BPE-ENC-4, BPE-ENC-5
  why       it differs from the reference
  model     {"type": "bpe", "vocabulary": ["a"]}
  input     encode "aa"
  expected  tokens: "a" "a"
  actual    tokens: "a"
                        ^^^
  first     tokens[1]: expected "a", actual nothing
  stage     normalize and pre_tokenize agree with the reference; what follows differs
  again     tokspec fuzz --impl lossy:Adapter --in-process"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an adapter that is wrong."""
    (tmp_path / "lossy.py").write_text(ADAPTER)
    return tmp_path


def fuzz(folder: Path, *options: str) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "tokspec", "fuzz", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
    return done.returncode, done.stdout, done.stderr


LOSSY = ("--impl", "lossy:Adapter", "--in-process", "--seed", "9", "--only", "bpe")


def test_the_reference_has_no_findings(folder: Path) -> None:
    status, out, err = fuzz(folder, "--examples", "50", "--seed", "10")
    named = "no implementation is named: tokref 0.3.0 is compared with tokref 0.3.0; give --impl"
    assert (status, err) == (0, f"seed 10\n{named}\n")
    assert re.match(
        r"^tokref 0\.3\.0: 0 findings in 50 examples, \d+ requests = \d+ alike \+ 0 differ( \+ \d+ unsupported)?\n$",
        out,
    )
    assert not (folder / ".tokspec-fuzz").exists()
    assert not (folder / ".hypothesis").exists()


#: Supports models of one type alone.
NARROW = """
from tokspec.adapter import Unsupported
from tokspec.adapters.reference import ReferenceAdapter

class Adapter(ReferenceAdapter):
    def load(self, format, content):
        if content.get("type") not in SUPPORTED:
            raise Unsupported("this type")
        return super().load(format, content)
"""


def test_the_last_line_names_the_families_of_which_nothing_was_answered(folder: Path) -> None:
    (folder / "narrow.py").write_text(f'SUPPORTED = ["bpe", "wordpiece"]\n{NARROW}')
    options = ("--impl", "narrow:Adapter", "--seed", "5", "--examples", "60", "--no-database")
    status, out, err = fuzz(folder, *options)
    assert (status, err) == (0, "seed 5\n")
    assert re.fullmatch(
        r"tokref 0\.3\.0: 0 findings in 60 examples, \d+ requests = \d+ alike \+ 0 differ \+ \d+ unsupported; \d+ % answered"
        r"(; hardly answered: .+)?; not answered: (bpe-bytes 0 of \d+, )?(broken 0 of \d+, )?stages 0 of \d+, unigram 0 of \d+, wordlevel 0 of \d+\n",
        out,
    )


def test_another_implementation_that_dies_at_every_question_is_named(folder: Path) -> None:
    dying = "import os\nfrom tokspec.adapters.reference import ReferenceAdapter\n\nclass Adapter(ReferenceAdapter):\n"
    (folder / "dying.py").write_text(f"{dying}    def run(self, *asked):\n        os._exit(7)\n")
    options = ("--against", "dying:Adapter", "--seed", "2", "--only", "bpe", "--examples", "4", "--no-database")
    status, out, _ = fuzz(folder, *options)
    dead = "tokref 0.3.0 (dying:Adapter): crash: exit status 7"
    assert (status, out.splitlines()[-1]) == (
        1,
        f"no example was answered; {dead}; a run that shows nothing is not a pass",
    )
    said = "tokspec: --database: keeps findings, and --no-database keeps none; give one of the two\n"
    assert fuzz(folder, "--database", "db", "--no-database", "--seed", "1") == (2, "", said)


def test_a_run_in_which_nothing_was_answered_is_no_pass(folder: Path) -> None:
    (folder / "narrow.py").write_text(f"SUPPORTED = []\n{NARROW}")
    options = ("--impl", "narrow:Adapter", "--seed", "5", "--examples", "5", "--no-database", "--only", "bpe")
    status, out, err = fuzz(folder, *options)
    assert (status, err) == (1, "seed 5\n")
    requests = re.match(r"tokref 0\.3\.0: 0 findings in 5 examples, (\d+) requests", out)
    assert requests is not None
    assert out == (
        f"tokref 0.3.0: 0 findings in 5 examples, {requests[1]} requests = 0 alike + 0 differ + {requests[1]} unsupported; "
        f"0 % answered; not answered: bpe 0 of {requests[1]}\n"
        "no example was answered; a run that shows nothing is not a pass\n"
    )


def kept(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in (folder / ".tokspec-fuzz").rglob("*") if file.is_file())


@pytest.mark.long
def test_a_finding_is_shown_saved_kept_and_asked_again(folder: Path) -> None:
    status, out, _ = fuzz(folder, *LOSSY, "--examples", "40", "--save", "found")
    assert status == 1
    files = sorted(file.name for file in (folder / "found").iterdir())
    assert any(name.startswith("fuzz-bpe-enc-1-") for name in files)
    assert all(f"wrote found/{name}\n" in out for name in files)
    assert FINDING in out
    (last,) = [line for line in out.splitlines() if line.startswith("tokref 0.3.0: ")]
    assert last.startswith(f"tokref 0.3.0: {len(files)} finding{'s' if len(files) > 1 else ''} in 40 examples, ")
    assert kept(folder)[0].startswith(".tokspec-fuzz/tokref-0.3.0-only-bpe/")

    status, out, _ = fuzz(folder, *LOSSY, "--seconds", "0")
    assert (status, FINDING in out) == (1, True)
    assert "  again     tokspec fuzz --impl lossy:Adapter --in-process --only bpe --seconds 0\n" in out

    status, out, _ = fuzz(folder, *LOSSY, "--seconds", "0", "--no-database", "--replay", "found")
    assert status == 1
    assert "--replay found --seconds 0" in out

    run = [sys.executable, "-m", "tokspec", "run", "--fixtures", "found", "--impl", "lossy:Adapter"]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, timeout=120)
    assert "tokref 0.3.0 does not conform: " in done.stdout
    said = 'why       NOT VERIFIED: tokref 0.3.0 gives the tokens ["a"]. Say here what the case shows.'
    assert said in done.stdout


@pytest.mark.long
def test_what_is_right_by_now_is_not_kept(folder: Path) -> None:
    fuzz(folder, *LOSSY, "--examples", "40")
    assert kept(folder)
    (folder / "lossy.py").write_text("from tokspec.adapters.reference import ReferenceAdapter as Adapter\n")
    status, _, _ = fuzz(folder, *LOSSY, "--seconds", "1")
    assert (status, kept(folder)) == (0, [])


@pytest.mark.long
def test_the_command_that_finds_it_again_does(folder: Path) -> None:
    status, out, _ = fuzz(folder, *LOSSY, "--examples", "40", "--no-database")
    first, *_ = [line.split("tokspec fuzz ")[1] for line in out.splitlines() if line.startswith("  again ")]
    assert re.search(r" --only bpe --seed 9 --examples \d+ --no-database$", first)
    again, repeated, _ = fuzz(folder, *first.split())
    assert (status, again) == (1, 1)
    assert FINDING in repeated


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--only", "bep"], "--only: 'bep' names no models; did you mean bpe? there are stages, "),
        (["--only", "bpe:1"], "--only: 'bpe:1' has a number, but families have no numbers; give --seed and --examples"),
        (["--impl", "nobody"], "nobody: is not installed; "),
        (["--replay", "nowhere"], "nowhere: is not a folder; give one with fixture files in it"),
        (["--known-failures", "nowhere.yaml"], "nowhere.yaml: cannot be read: No such file or directory"),
        (["--seconds", "-1"], "Invalid value for '--seconds': -1.0 is not in the range 0<=x<=86400; "),
        (["--seconds", "nan"], "Invalid value for '--seconds': nan is not a number; "),
        (["--impl", "false x"], "false x: cannot be asked: crash: exit status 1; try tokspec smoke --impl 'false x'\n"),
        (
            ["--against", "false x"],
            "false x: cannot be asked: crash: exit status 1; try tokspec smoke --impl 'false x'\n",
        ),
        (
            ["--impl", "odd:Adapter"],
            "odd:Adapter: cannot be asked: protocol: hello declares 'unknown_id=odd', which is an option that unknown_id "
            "does not have; try tokspec smoke --impl odd:Adapter\n",
        ),
        (
            ["--save", "mine"],
            "mine: contains something that is not a fixture: mine.yaml:1: lacks the key about; correct it, or give another folder\n",
        ),
        (["--save", "lossy.py/found"], "lossy.py: is not a folder; give another one for what is found\n"),
        (["--database", "lossy.py"], "lossy.py: is not a folder; give another one for what is found\n"),
    ],
)
def test_misuse_is_one_line(folder: Path, options: list[str], message: str) -> None:
    (folder / "odd.py").write_text(
        "from dataclasses import replace\nfrom tokspec.adapters.reference import ReferenceAdapter\n\n\n"
        "class Adapter(ReferenceAdapter):\n    def hello(self):\n"
        '        return replace(super().hello(), choices={"unknown_id": "odd"})\n'
    )
    (folder / "mine").mkdir()
    (folder / "mine" / "mine.yaml").write_text("cases: 3")
    status, out, err = fuzz(folder, *options)
    assert (status, out) == (2, "")
    said, *others = [line for line in err.splitlines(keepends=True) if not line.startswith("seed ")]
    assert others == []
    assert said.startswith(f"tokspec: {message}")


@pytest.mark.long
def test_what_a_listed_case_excuses_does_not_count(folder: Path) -> None:
    entry = '  - case: "CASE"\n    verdict: "fail"\n    digest: "0123456789abcdef"\n    reason: "known"\n'
    listed = [sys.executable, "-m", "tokspec", "cases", "BPE-ENC-1"]
    done = subprocess.run(listed, capture_output=True, text=True)
    case = next(line.split()[0] for line in done.stdout.splitlines() if line.startswith("  bpe-"))
    options = (*LOSSY, "--examples", "12", "--no-database", "--known-failures", "known.yaml")
    (folder / "known.yaml").write_text("known_failures:\n" + entry.replace("CASE", case))
    _, out, _ = fuzz(folder, *options)
    assert f"known: BPE-ENC-1 ({case}): BPE-ENC-1" in out
    assert FINDING not in out
    (folder / "known.yaml").write_text("known_failures:\n" + entry.replace("CASE", case).replace("fail", "crash"))
    status, out, _ = fuzz(folder, *options)
    assert (status, FINDING in out) == (1, True)  # it fails in another manner


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="has no such signal")
def test_an_interruption_ends_with_what_was_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERRUPTED_AT", "3000")
    status, out, err = fuzz(folder, *LOSSY, "--seconds", "100", "--no-database")
    assert (status, err) == (130, "seed 9\ninterrupted\n")
    assert FINDING in out
    assert out.endswith(", interrupted\n")


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_one_example_asks_something(folder: Path, family: str) -> None:
    status, out, _ = fuzz(folder, "--examples", "1", "--only", family, "--no-database")
    asked = "1 request = 1" if family in ("stages", "training", "broken") else "2 requests = 2"
    said = f"tokref 0.3.0: 0 findings in 1 example, {asked} alike + 0 differ\n"
    if family == "broken":  # such models are refused alike, and nothing is answered
        said += "no example was answered; a run that shows nothing is not a pass\n"
    assert (status, out) == (int(family == "broken"), said)


def test_nothing_to_replay_is_told(folder: Path) -> None:
    status, out, _ = fuzz(folder, "--seconds", "0")
    said = "--seconds 0 replays only what --replay names or the database keeps, and there is nothing"
    assert (status, out.splitlines()[1]) == (1, f"{said}; a run that shows nothing is not a pass")


def test_what_cannot_be_written_is_shown_all_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPOILS", "found")
    status, out, err = fuzz(folder, *LOSSY, "--examples", "12", "--save", "found")
    assert status == 2
    assert FINDING in out
    assert "\ntokref 0.3.0: " in out
    assert err == "seed 9\ntokspec: found: cannot be created: File exists\n"
    assert kept(folder)


@pytest.mark.parametrize("name", ["mine.yaml", "", "other id"])
def test_a_case_that_a_person_took_over_is_not_written_again(folder: Path, name: str) -> None:
    options = (*LOSSY, "--examples", "12", "--no-database", "--save", "found")
    fuzz(folder, *options)
    (file,) = (folder / "found").iterdir()
    worked_out = file.read_text("utf-8").replace('about: "', 'about: "By hand. ', 1)
    taken_over = file.rename(file.with_name(name)) if name == "mine.yaml" else file
    if name == "other id":
        worked_out = worked_out.replace(f'id: "{file.stem}"', 'id: "mine"')
    taken_over.write_text(worked_out, "utf-8")
    status, out, _ = fuzz(folder, *options)
    said = [line for line in out.splitlines() if line.startswith(("found/", "wrote ", "already exists"))]
    holds = f"found/{taken_over.name}:5 holds {file.stem} already"
    kept = f"already exists, and is left as it is: found/{file.name}"
    assert (status, said) == (1, [kept if name == "other id" else holds])
    assert {each: each.read_text("utf-8") for each in (folder / "found").iterdir()} == {taken_over: worked_out}


#: Adapters whose answers depend on what was asked before: what they do with each request.
MOODY = """\
        asked = operation, id(model), str(input)
        is_wrong = asked in self.seen
        self.seen.add(asked)
"""
TIRED = """\
        self.seen.add(len(self.seen))
        is_wrong = len(self.seen) > 9
"""


@pytest.mark.parametrize(
    ("does", "clause", "kind", "why"),
    [
        (MOODY, "ERROR-1", "[^:]*", "shows only when the request is repeated"),
        (TIRED, "NORM-1", "text", "shows only after other requests"),
    ],
)
def test_what_depends_on_what_was_asked_before_is_no_fixture(
    folder: Path, does: str, clause: str, kind: str, why: str
) -> None:
    (folder / "stateful.py").write_text(
        "from tokspec.adapters.reference import ReferenceAdapter\n\n\nclass Adapter(ReferenceAdapter):\n"
        "    def __init__(self):\n        super().__init__()\n        self.seen = set()\n\n"
        f"    def run(self, operation, model, input):\n{does}"
        '        is_wrong = is_wrong and operation == "normalize"\n'
        '        return {"text": "wrong"} if is_wrong else super().run(operation, model, input)\n'
    )
    options = ("--impl", "stateful:Adapter", "--in-process", "--seed", "9", "--only", "stages", "--examples", "100")
    status, out, _ = fuzz(folder, *options, "--no-database", "--save", "found")
    assert status == 1
    assert re.search(rf"^not written: {clause} +normalize: {kind}: .*: {why}$", out, re.MULTILINE)
    assert ("\n  after     other requests: alone it is answered correctly\n" in out) == (does == TIRED)
    assert not list(folder.glob("found/*"))


def test_another_oracle_is_named_and_its_answer_saved(folder: Path) -> None:
    options = ("--against", "lossy:Adapter", "--seed", "9", "--only", "bpe", "--examples", "12")
    status, out, _ = fuzz(folder, *options, "--save", "found")
    assert status == 1
    assert "  why       it differs from tokref 0.3.0 (lossy:Adapter)\n" in out
    assert "  stage " not in out
    file, *_ = sorted((folder / "found").iterdir())
    said = file.read_text("utf-8")
    assert '  - rule: "tokref 0.3.0 was found to answer differently from tokref 0.3.0 (lossy:Adapter)."\n' in said
    assert '    expect: {tokens: ["a"], ids: [0], spans: [[0, 1]]}\n' in said
    kept_in = [each.name for each in (folder / ".tokspec-fuzz").iterdir()]
    assert kept_in == ["tokref-0.3.0-against-lossy-Adapter-only-bpe"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("given", "again"),
    [
        (
            "--no-database --case-seconds 3 --start-seconds 9.5 --memory-mb 0 --choice unknown_id=skipped --seed 9 "
            "--only bpe --examples 12 --known-failures none.yaml --fixtures own",
            "--limit case-seconds=3 --limit start-seconds=9.5 --limit memory-mb=0 --choice unknown_id=skipped "
            "--known-failures none.yaml --fixtures own --only bpe --seed 9 --examples ",
        ),
        (
            "--database db --only bpe --seconds 0 --limit case-seconds=3",
            "--limit case-seconds=3 --only bpe --database db --seconds 0",
        ),
        ("--replay own --no-database --seconds 0", "--replay own --seconds 0 --no-database"),
    ],
)
def test_the_command_that_finds_it_again_has_every_option(folder: Path, given: str, again: str) -> None:
    fuzz(folder, *LOSSY, "--examples", "12", "--database", "db", "--save", "own")
    (folder / "none.yaml").write_text("known_failures: []\n")
    status, out, _ = fuzz(folder, "--impl", "lossy:Adapter", *given.split())
    first = next(line for line in out.splitlines() if line.startswith("  again "))
    assert status == 1
    assert first.startswith(f"  again     tokspec fuzz --impl lossy:Adapter {again}")
    status, repeated, _ = fuzz(folder, *first.split("tokspec fuzz ")[1].split())
    assert (status, FINDING.partition("\n  again")[0] in repeated) == (1, True)


def test_what_did_open_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []

    def open(target: Any) -> Session:
        session = InProcessSession(ReferenceAdapter())
        monkeypatch.setattr(session, "close", lambda: closed.append("judged"))
        return session

    def fail(name: str) -> Session:
        raise AdapterFault("crash", "exit status 1")

    monkeypatch.setattr("tokspec.cli.options.Target.open", open)
    monkeypatch.setattr("tokspec.fuzz.checker.open_side", fail)
    said = r"^broken: cannot be asked: crash: exit status 1; try tokspec smoke --impl broken$"
    with pytest.raises(DataError, match=said):
        fuzz_command.main(["--against", "broken", "--no-database"], standalone_mode=False)
    assert closed == ["judged"]


class TestReference(TokenizerTests):
    """The reference by what a port would use."""

    adapter = "reference"
    examples = 30


def test_a_port_is_told_what_differs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(folder)
    from lossy import Adapter  # type: ignore[import-not-found]

    found = differences(Adapter, examples=12, seed=9, families=["bpe"])
    assert any(FINDING.partition("  again")[0] in f"{each}\n" for each in found)
    assert len(differences(Adapter, examples=12, seed=9, families=["bpe"], known=["BPE-ENC-1"])) == len(found) - 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"known": ["BPE-ENC-1x"]},
            "known: 'BPE-ENC-1x' is not a clause of the specification; did you mean BPE-ENC-1? tokspec cases names them",
        ),
        ({"known": "BPE-ENC-1"}, "known: 'BPE-ENC-1' is one text; give a list of clauses, such as ['BPE-ENC-1']"),
        ({"families": "bpe"}, "families: 'bpe' is one text; give a list of families, such as ['bpe']"),
        ({"families": ["bep"]}, f"families: 'bep' names no models; did you mean bpe? there are {', '.join(FAMILIES)}"),
        ({"families": []}, f"families: names no models; there are {', '.join(FAMILIES)}"),
        ({"choices": {"unknown_id": "x"}}, "choices: 'x' names no option; unknown_id has error, skipped"),
        (
            {"choices": {"unknown": "x"}},
            f"choices: 'unknown' names no choice; did you mean unknown_id? there are {', '.join(CHOICES)}",
        ),
        (
            {"choices": {"unknown_id": "skiped"}},
            "choices: 'skiped' names no option; did you mean skipped? unknown_id has error, skipped",
        ),
        ({"examples": 0}, "examples: 0 is not a number of models; give 1 or more"),
        ({"examples": "x"}, "examples: 'x' is not a number of models; give 1 or more"),
        ({"examples": True}, "examples: True is not a number of models; give 1 or more"),
        ({"seed": "x"}, "seed: 'x' is not a seed; give a number from 0 on"),
    ],
)
def test_a_port_is_told_what_it_named_wrongly(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError) as raised:
        differences(ReferenceAdapter, **arguments)
    assert str(raised.value) == message


class Refuses(ReferenceAdapter):
    """Supports no model."""

    def load(self, format: str, content: Any) -> Any:
        """Refuse."""
        raise Unsupported("nothing")


def test_who_answers_nothing_does_not_pass() -> None:
    with pytest.raises(DataError, match=r"^no example was answered, so the test shows nothing and does not pass$"):
        differences(Refuses, examples=30)


class Segments(ReferenceAdapter):
    """Offers one operation."""

    def hello(self) -> Hello:
        """Describe that."""
        return replace(super().hello(), operations=("segment",))


def test_who_offers_nothing_that_is_asked_does_not_hang() -> None:
    said = "^tokref 0.3.0 offers segment, and none of 30 examples of stages asks for it$"
    with pytest.raises(DataError, match=said):
        differences(Segments, examples=30, families=["stages"])


class LeftToRight(ReferenceAdapter):
    """A port of BPE alone that applies merges from left to right, not by rank."""

    def hello(self) -> Hello:
        """Offer encoding to tokens."""
        return Hello("left", "1", "Python", operations=("encode",), formats=("tokspec",), encode_fields=("tokens",))

    def load(self, format: str, content: Any) -> Any:
        """Take what is BPE and nothing else."""
        if set(content) - {"type", "vocabulary", "merges"} or content["type"] != "bpe":
            raise Unsupported("BPE alone")
        if not {part for one, two in content.get("merges", ()) for part in (one, two, one + two)} <= {
            *content["vocabulary"]
        }:
            raise Refusal("invalid_model", "a merge of what is not in the vocabulary")
        return content

    def run(self, operation: str, model: Any, input: Any) -> Any:
        """Merge the first pair that is a merge, again and again."""
        tokens = list(input["text"])
        if set(tokens) - set(model["vocabulary"]):
            raise Unsupported("unknown symbols")
        place = 0
        while place + 1 < len(tokens):
            if tokens[place : place + 2] in model.get("merges", ()):
                tokens[place : place + 2] = ["".join(tokens[place : place + 2])]
                place = 0
            else:
                place += 1
        return {"tokens": tokens}


class NearlyNothing(ReferenceAdapter):
    """Answers the plainest text, and one of five hundred others."""

    def run(self, operation: str, model: Any, input: Any) -> Any:
        """Answer, or refuse."""
        if input != {"text": "ab"} and crc32(repr(input).encode("utf-8", "surrogatepass")) % 500:
            raise Unsupported("this one")
        return super().run(operation, model, input)


@pytest.mark.parametrize("seed", range(1, 4))
def test_the_defaults_find_merges_from_left_to_right_in_a_port_of_bpe_alone(seed: int) -> None:
    found = differences(LeftToRight, seed=seed)
    assert [each.partition("  (met ")[0] for each in found] == ["BPE-ENC-1 encode: tokens"], found


def test_a_port_that_answers_next_to_nothing_is_told_how_little() -> None:
    said = r"^tokspec: only \d+ of \d+ requests were answered, and 100 models were to be tested$"
    with pytest.warns(UserWarning, match=said):
        assert differences(NearlyNothing, seed=2, families=["wordpiece"]) == []


def test_a_test_without_an_adapter_is_told() -> None:
    with pytest.raises(DataError, match=r"^adapter: TokenizerTests has none; give the class one$"):
        TokenizerTests().test_agrees_with_the_reference()
    with pytest.raises(DataError, match=r"^adapter: 5 is neither a class nor a name; give an adapter$"):
        differences(5)  # type: ignore[arg-type]


def test_unittest_runs_the_tests_of_a_case(folder: Path) -> None:
    (folder / "test_port.py").write_text(
        "import unittest\n\nfrom tokspec.testing import TokenizerTests\n\n\n"
        'class TestPort(TokenizerTests, unittest.TestCase):\n    adapter = "reference"\n    examples = 10\n'
    )
    command = [sys.executable, "-m", "unittest", "test_port"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert "\nRan 1 test in " in done.stderr
    assert done.stderr.endswith("\nOK\n")


def test_the_inherited_tests_fail_with_the_description(folder: Path) -> None:
    (folder / "test_port.py").write_text(
        "from lossy import Adapter\nfrom tokspec.testing import TokenizerTests\n\n\n"
        'class TestPort(TokenizerTests):\n    adapter = Adapter\n    examples = 12\n    seed = 9\n    families = ("bpe",)\n'
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_port.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert re.search(r"AssertionError: \d differences?$", done.stdout, re.MULTILINE)
    assert 'first     tokens[1]: expected "a", actual nothing' in done.stdout
    assert "1 failed" in done.stdout


def test_the_manual_shows_tests_that_pass(folder: Path) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    (adapter,) = re.findall(r"^```python\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    page = (Path(__file__).parents[2] / "docs" / "fuzz.md").read_text("utf-8")
    (tests,) = re.findall(r"^```py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (folder / "my_adapter.py").write_text(adapter)
    (folder / "test_mine.py").write_text(tests)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert "1 passed" in done.stdout, done.stdout


def test_the_help_names_every_family() -> None:
    said = " ".join(CliRunner().invoke(fuzz_command, ["--help"]).output.split())
    *names, last = FAMILIES
    assert f"{', '.join(names)} or {last}." in said
