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
from tokspec.adapters.registry import find
from tokspec.adapters.versions import cache_folder, environments, python_of
from tokspec.base.errors import DataError
from tokspec.cli import tokspec as group

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
    with pytest.raises(DataError, match=r"^tiny==9: cannot be had: .*tiny==9"):
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
        ("tokenizers==", "tokenizers==: names no release; give one such as tokenizers==0.20.3"),
        ("tokenizers==>=1", "tokenizers==>=1: names no release; give one such as tokenizers==0.20.3"),
        ("reference==1.0", "reference==1.0: has no releases of its own: reference needs no package"),
    ],
)
def test_what_is_no_release_is_refused(spec: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        find(spec)
    assert str(caught.value) == message


def dev_versions(*arguments: str) -> Result:
    return CliRunner().invoke(group, ["dev", "versions", *arguments])


def test_the_command_lists_and_removes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        python = cache_folder() / name / versions.PLACES[0]
        python.parent.mkdir(parents=True)
        python.write_text("")
    listed = sorted(dev_versions().output.splitlines())
    assert listed == [f"2 of at most 40 in {cache_folder()}", "a", "b"]
    assert dev_versions("--clear").output == "removed 2 environments\n"
    assert dev_versions().output == f"0 of at most 40 in {cache_folder()}\n"


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
