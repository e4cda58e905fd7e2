"""Releases as implementations: an environment for each, made once, whole or not at all."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tokspec.adapters import versions
from tokspec.adapters.registry import find, open_session
from tokspec.adapters.versions import cache_folder, environments, python_of
from tokspec.base.errors import DataError
from tokspec.cli import tokspec as group
from tokspec.judge.runner import run
from tokspec.judge.verdicts import Verdict
from tokspec.suite.fixtures import load_suite

#: Whether there is a program that makes an environment, without which pip is taken.
PROGRAMS = [pytest.param(True, id="uv", marks=pytest.mark.skipif(not shutil.which("uv"), reason="needs uv")), False]


@pytest.fixture(autouse=True)
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels, from which alone packages are taken, and an empty cache."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for version in ("1.0", "2.0"):
        info = f"tiny-{version}.dist-info"
        with zipfile.ZipFile(folder / f"tiny-{version}-py3-none-any.whl", "w") as wheel:
            wheel.writestr("tiny.py", f"VERSION = {version!r}\n")
            wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny\nVersion: {version}\n")
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "")
    for program in ("PIP", "UV"):
        monkeypatch.setenv(f"{program}_NO_INDEX", "1")
        monkeypatch.setenv(f"{program}_FIND_LINKS", str(folder))
    monkeypatch.setenv("TOKSPEC_CACHE", str(tmp_path / "cache"))
    return folder


def without_uv(monkeypatch: pytest.MonkeyPatch, has_uv: bool) -> None:
    if not has_uv:
        monkeypatch.setattr(versions.shutil, "which", lambda name: None)


def imported(python: str) -> str:
    command = [python, "-c", "import tiny; print(tiny.VERSION)"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize("has_uv", PROGRAMS)
def test_each_release_has_an_environment_that_is_made_once(
    has_uv: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_uv(monkeypatch, has_uv)
    old, new = (python_of(f"tiny=={version}", [f"tiny=={version}"]) for version in ("1.0", "2.0"))
    assert (imported(old), imported(new)) == ("1.0", "2.0")
    place = cache_folder()
    said = "".join(f"making an environment for tiny=={version}, once, in {place}\n" for version in ("1.0", "2.0"))
    assert capsys.readouterr().err == said
    monkeypatch.setattr(versions, "_make", None)
    assert python_of("tiny==1.0", ["tiny==1.0"]) == old
    assert capsys.readouterr().err == ""
    assert [each.name.split("-py")[0] for each in environments()] == ["tiny-1.0", "tiny-2.0"]


@pytest.mark.slow
@pytest.mark.parametrize("has_uv", PROGRAMS)
def test_a_release_that_is_not_there_leaves_nothing(has_uv: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    without_uv(monkeypatch, has_uv)
    with pytest.raises(DataError, match=r"^tiny==9: cannot be installed: .*tiny==9"):
        python_of("tiny==9", ["tiny==9"])
    assert list(cache_folder().iterdir()) == []


@pytest.mark.slow
def test_the_environment_that_was_not_used_for_longest_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "MOST", 1)
    python_of("tiny==1.0", ["tiny==1.0"])
    python_of("tiny==2.0", ["tiny==2.0"])
    assert [each.name.split("-py")[0] for each in environments()] == ["tiny-2.0"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TOKSPEC_CACHE", str(tmp_path / "file"))
    with pytest.raises(DataError, match=r"/environments: cannot be written: Not a directory$"):
        python_of("tiny==1.0", ["tiny==1.0"])


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("tokenizers==", "tokenizers==: names no release; give one such as tokenizers==1.2.3"),
        ("tokenizers==>=1", "tokenizers==>=1: names no release; give one such as tokenizers==1.2.3"),
        ("reference==1.0", "reference: has no releases of its own: it needs no package"),
        ("gpt-tokenizer", "gpt-tokenizer: names no release; give one such as gpt-tokenizer==1.2.3"),
        (
            "@huggingface/tokenizers",
            "@huggingface/tokenizers: names no release; give one such as @huggingface/tokenizers==1.2.3",
        ),
        ("gpt-tokeniser==2.9.0", "gpt-tokeniser==2.9.0: is not installed; did you mean gpt-tokenizer? installed are "),
    ],
)
def test_what_is_no_release_is_refused(spec: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        find(spec)
    assert str(caught.value).startswith(message)


#: A client of a registry that writes what it is asked to a file, and refuses releases that begin with 9.
CLIENT = """\
#!/bin/sh
echo "$*" >> "$ASKED"
case "$*" in *@9*|*@v9*|*@=9*) echo "error: no such release" >&2; exit 1;; esac
"""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "client"), [("gpt-tokenizer", "npm"), ("sugarme", "go")])
def test_a_program_is_built_once_by_the_client_of_its_registry(
    name: str, client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / client).write_text(CLIENT)
    (tmp_path / "bin" / client).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("ASKED", str(tmp_path / "asked"))
    program = find(f"{name}==1.0").program
    assert find(f"{name}==1.0").program == program
    (folder,) = environments()
    assert folder.name.startswith(f"{name}-1.0-")
    assert all(Path(word).is_relative_to(folder) for word in program if word.startswith("/"))
    asked = (tmp_path / "asked").read_text().splitlines()
    assert [words.split()[0] for words in asked] == {"npm": ["install"], "go": ["-C", "-C"]}[client]
    assert "--ignore-scripts" in asked[0] or client != "npm"
    with pytest.raises(DataError, match=rf"^{name}==9: cannot be installed: no such release$"):
        find(f"{name}==9")
    assert environments() == [folder]


def test_a_program_needs_the_client_of_its_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DataError, match=r"^kitoken==1.0: needs cargo, the client of its registry$"):
        find("kitoken==1.0")
    assert environments() == []


@pytest.mark.interop
@pytest.mark.parametrize("spec", ["gpt-tokenizer==2.9.0", "@huggingface/tokenizers==0.1.3", "kitoken==0.10.1"])
def test_a_release_in_another_language_is_judged(spec: str) -> None:
    with open_session(spec, None) as session:
        assert session.hello.version == spec.partition("==")[2]
        assert run(session, [load_suite().cases["bpe-toy-encode-bug"]]).counts[Verdict.CRASH] == 0


def dev_versions(*arguments: str) -> Result:
    return CliRunner().invoke(group, ["dev", "versions", *arguments])


def test_the_command_lists_and_removes(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["a-0123456789ab", "b-0123456789ab"]
    for name in (*names, f"{versions._BEING_MADE}c", "photos"):
        python = cache_folder() / name / versions.PLACES[0]
        python.parent.mkdir(parents=True)
        python.write_text("")
    (cache_folder() / "notes-0123456789ab").write_text("")
    listed = sorted(dev_versions().output.splitlines())
    assert listed == [f"2 of at most 40 in {cache_folder()}", *names]
    assert dev_versions("--clear").output == "removed 2 environments\n"
    assert dev_versions().output == f"0 of at most 40 in {cache_folder()}\n"
    assert sorted(each.name for each in cache_folder().iterdir()) == ["notes-0123456789ab", "photos"]


@pytest.mark.interop
def test_an_update_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    for program in ("PIP", "UV"):
        monkeypatch.delenv(f"{program}_NO_INDEX")
        monkeypatch.delenv(f"{program}_FIND_LINKS")
    command = [sys.executable, "-m", "tokspec", "diff", "tokenizers==0.22.1", "tokenizers==0.23.3"]
    done = subprocess.run([*command, "--show", "1"], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout.startswith(
        "A  tokenizers 0.22.1 (tokenizers==0.22.1)\nB  tokenizers 0.23.3 (tokenizers==0.23.3)\n"
    )
