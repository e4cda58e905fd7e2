"""``tokspec fuzz``: what it prints, keeps and returns; and the tests that a port inherits."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tokspec.testing import TokenizerTests, differences

ADAPTER = '''
import os
import signal

from tokspec.adapters.reference import ReferenceAdapter


class Adapter(ReferenceAdapter):
    """Loses the last token of what begins with two times a."""

    asked = 0

    def run(self, operation, model, input):
        result = dict(super().run(operation, model, input))
        self.asked += 1
        if self.asked == int(os.environ.get("INTERRUPTED_AT", "0")):
            os.kill(os.getpid(), signal.SIGINT)
        if operation == "encode" and result["tokens"][:2] == ["a", "a"]:
            result = {key: value[:-1] for key, value in result.items()}
        return result
'''

FINDING = """\
  why       it differs from the reference
  model     {"type": "bpe", "vocabulary": ["a"]}
  input     encode "aa"
  expected  tokens: "a" "a"
  actual    tokens: "a"
                        ^^^
  first     tokens[1]: expected "a", actual nothing
  stage     normalize and pre_tokenize agree with the reference; what follows differs
  again     tokspec fuzz --impl lossy:Adapter --in-process --seed 5 --only bpe:"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an adapter that is wrong."""
    (tmp_path / "lossy.py").write_text(ADAPTER)
    return tmp_path


def fuzz(folder: Path, *options: str) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "tokspec", "fuzz", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
    return done.returncode, done.stdout, done.stderr


LOSSY = ("--impl", "lossy:Adapter", "--in-process", "--seed", "5", "--only", "bpe")


def test_the_reference_has_no_findings(folder: Path) -> None:
    status, out, err = fuzz(folder, "--examples", "500", "--seed", "5")
    assert (status, err) == (0, "seed 5\n")
    assert out.startswith("tokref 0.1.0: 0 findings in ")
    assert not (folder / ".tokspec-fuzz").exists()


def test_a_finding_is_shown_saved_kept_and_asked_again(folder: Path) -> None:
    status, out, _ = fuzz(folder, *LOSSY, "--examples", "900", "--save", "found")
    assert status == 1
    files = sorted(file.name for file in (folder / "found").iterdir())
    assert [name.rpartition("-")[0] for name in files] == ["fuzz-bpe-enc-1", "fuzz-bpe-enc-9"]
    assert f"wrote found/{files[0]}\n" in out
    assert FINDING in out
    assert "tokref 0.1.0: 2 findings in " in out
    kept = json.loads((folder / ".tokspec-fuzz" / "tokref-0.1.0.json").read_text())
    assert [each["input"] for each in kept] == [{"text": "aa"}]

    status, out, _ = fuzz(folder, *LOSSY, "--seconds", "0")
    assert status == 1
    assert out.endswith("tokref 0.1.0: 2 findings in 1 example = 0 alike + 1 differs\n")

    status, out, _ = fuzz(folder, *LOSSY, "--seconds", "0", "--no-database", "--replay", "found")
    assert status == 1
    assert "--replay found --seconds 0" in out

    run = [sys.executable, "-m", "tokspec", "run", "--fixtures", "found", "--impl", "lossy:Adapter"]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, timeout=120)
    assert "tokref 0.1.0 does not conform: 2 cases = 2 fail\n" in done.stdout
    said = 'why       NOT VERIFIED: tokref 0.1.0 gives the tokens ["a"]. Say here what the case shows.'
    assert said in done.stdout


def test_the_command_that_finds_it_again_does(folder: Path) -> None:
    status, out, _ = fuzz(folder, *LOSSY, "--examples", "900", "--no-database")
    first, *_ = [line.split("tokspec fuzz ")[1] for line in out.splitlines() if line.startswith("  again ")]
    again, repeated, _ = fuzz(folder, *first.split())
    assert (status, again) == (1, 1)
    assert FINDING in repeated


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--only", "bep"], "--only: 'bep' names no models; there are stages, "),
        (["--only", "bpe:1"], "--only: a model's number is one of a seed; give --seed too"),
        (["--impl", "nobody"], "nobody: is not installed; "),
        (["--replay", "nowhere"], "nowhere: is not a folder; give one with fixture files in it"),
        (["--known-failures", "nowhere.yaml"], "nowhere.yaml: cannot be read: No such file or directory"),
        (["--seconds", "-1"], "Invalid value for '--seconds': -1.0 is not in the range x>=0"),
    ],
)
def test_misuse_is_one_line(folder: Path, options: list[str], message: str) -> None:
    status, out, err = fuzz(folder, *options)
    assert (status, out) == (2, "")
    assert err.removeprefix("seed ").splitlines()[-1].startswith(f"tokspec: {message}")


def test_known_clauses_do_not_count(folder: Path) -> None:
    entry = '  - case: "CASE"\n    verdict: "fail"\n    digest: "0123456789abcdef"\n    reason: "known"\n'
    case = next(
        line.split()[0]
        for line in subprocess.run(
            [sys.executable, "-m", "tokspec", "list", "--select", "BPE-ENC-1"], capture_output=True, text=True
        ).stdout.splitlines()
        if "bpe-" in line
    )
    (folder / "known.yaml").write_text("known_failures:\n" + entry.replace("CASE", case))
    status, out, _ = fuzz(folder, *LOSSY, "--examples", "900", "--no-database", "--known-failures", "known.yaml")
    assert status == 0
    assert f"known: BPE-ENC-1 ({case}): BPE-ENC-1" in out
    assert f"known: BPE-ENC-1 ({case}): BPE-ENC-9" in out  # the property that the same example breaks
    assert "tokref 0.1.0: 0 findings and 2 known in " in out
    (folder / "known.yaml").write_text("known_failures:\n" + entry.replace("CASE", case).replace("fail", "crash"))
    status, out, _ = fuzz(folder, *LOSSY, "--examples", "900", "--no-database", "--known-failures", "known.yaml")
    assert (status, "tokref 0.1.0: 2 findings in " in out) == (1, True)  # it fails in another manner


@pytest.mark.skipif(os.name == "nt", reason="has no such signal")
def test_an_interruption_ends_with_what_was_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERRUPTED_AT", "2500")
    status, out, err = fuzz(folder, *LOSSY, "--seconds", "100", "--no-database")
    assert (status, err) == (1, "seed 5\n")
    assert FINDING in out
    assert out.endswith(", interrupted\n")


class TestReference(TokenizerTests):
    """The reference by what a port would use."""

    adapter = "reference"
    examples = 300


def test_a_port_is_told_what_differs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(folder)
    from lossy import Adapter  # type: ignore[import-not-found]

    found = differences(Adapter, examples=300, seed=5, families=["bpe"])
    assert [FINDING.partition("  again")[0] in f"{each}\n" for each in found] == [True]
    assert differences(Adapter, examples=300, seed=5, families=["bpe"], known=["BPE-ENC-1"]) == []


def test_the_inherited_tests_fail_with_the_description(folder: Path) -> None:
    (folder / "test_port.py").write_text(
        "from lossy import Adapter\nfrom tokspec.testing import TokenizerTests\n\n\n"
        'class TestPort(TokenizerTests):\n    adapter = Adapter\n    examples = 900\n    seed = 5\n    families = ("bpe",)\n'
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_port.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert "AssertionError: 1 differences" in done.stdout
    assert 'first     tokens[1]: expected "a", actual nothing' in done.stdout
    assert "problem   the tokens are 'a' together" in done.stdout
    assert "2 failed" in done.stdout


def test_the_readme_shows_tests_that_pass(folder: Path) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    (adapter,) = re.findall(r"^```python\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    (tests,) = re.findall(r"^```py\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    (folder / "my_adapter.py").write_text(adapter)
    (folder / "test_mine.py").write_text(tests)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert "2 passed" in done.stdout, done.stdout
