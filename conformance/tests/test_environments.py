"""Adapters in another environment: which Python, and that nothing of the suite needs to be installed there."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tokspec.adapters.registry import find, find_python, known_names, open_session, server_command
from tokspec.base.errors import DataError
from tokspec.protocol.messages import Answer, Request

MODEL = {"type": "bpe", "vocabulary": ["u", "g", "ug"], "merges": [["u", "g"]]}


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Return an environment in which nothing is installed."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    return tmp_path / "bare"


def test_an_environment_is_a_folder_or_its_python(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = bare / "bin" / "python"
    assert find_python(str(bare)) == str(python)
    assert find_python(str(python)) == str(python)
    monkeypatch.chdir(bare.parent)
    assert find_python("bare") == str(python)
    monkeypatch.setenv("HOME", str(bare.parent))
    assert find_python("~/bare") == str(python)


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        find_python(str(tmp_path))
    message = "is not an environment: it has neither bin/python nor Scripts/python.exe"
    assert str(caught.value) == f"{tmp_path}: {message}"
    with pytest.raises(DataError) as caught:
        find(f"tokenizers@{tmp_path}")
    assert str(caught.value) == f"{tmp_path}: {message}"


def test_the_suite_is_found_from_there(bare: Path) -> None:
    python = find_python(str(bare))
    nothing = subprocess.run([python, "-P", "-c", "import tokspec"], capture_output=True, text=True, check=False)
    assert nothing.returncode == 1
    assert nothing.stderr.splitlines()[-1] == "ModuleNotFoundError: No module named 'tokspec'"
    command = server_command(python, "tokspec.quality.chance:Trivial")
    assert (command[0], command[1], command[-1]) == (python, "-c", "tokspec.quality.chance:Trivial")


def test_an_adapter_of_the_standard_library_alone_answers_there(bare: Path) -> None:
    folder = next((bare / "lib").iterdir()) / "site-packages"
    (folder / "there.py").write_text(
        "import sys\n"
        "from tokspec.adapter import Hello\n"
        "class Adapter:\n"
        "    def hello(self): return Hello('there', '7', 'Python', operations=('encode',))\n"
        "    def load(self, format, content): return None\n"
        "    def run(self, operation, model, input): return {'tokens': [sys.prefix]}\n"
    )
    with open_session(f"there:Adapter@{bare}", None) as session:
        assert (session.hello.name, session.hello.version) == ("there", "7")
        ((_, reply),) = session.ask([Request("encode", "toy", MODEL, {"text": "ug"})])
        assert reply == Answer({"tokens": [str(bare)]})


def test_an_object_of_the_current_folder_meets_the_libraries_there(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = next((bare / "lib").iterdir()) / "site-packages"
    (folder / "letters.py").write_text("def split(text): return [*text, 'there']\n")
    (tmp_path / "mine.py").write_text(
        "import letters\n"
        "from tokspec.adapter import Hello\n"
        "class Adapter:\n"
        "    def hello(self): return Hello('mine', '7', 'Python', operations=('encode',))\n"
        "    def load(self, format, content): return None\n"
        "    def run(self, operation, model, input): return {'tokens': letters.split(input['text'])}\n"
    )
    monkeypatch.chdir(tmp_path)
    with open_session("mine:Adapter@bare", None) as session:
        ((_, reply),) = session.ask([Request("encode", "toy", MODEL, {"text": "ug"})])
        assert reply == Answer({"tokens": ["u", "g", "there"]})


def libraries(name: str) -> set[str]:
    """Return the packages beside the standard library and the suite that the module of an adapter imports."""
    module = find_spec(find(name).target.partition(":")[0])
    assert module
    assert module.origin
    source = Path(module.origin).read_text("utf-8")
    found = set[str]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "import_module":
            found.update(str(each.value).partition(".")[0] for each in node.args if isinstance(each, ast.Constant))
    return found - {*sys.stdlib_module_names, "tokspec", "tokref", "tokfast"}


PUBLISHED = [name for name in known_names() if find(name).target.startswith("tokspec.published.")]


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_adapter_wants_its_library_there_and_nothing_else(bare: Path, name: str) -> None:
    with pytest.raises(DataError) as caught:
        open_session(f"{name}@{bare}", None).__enter__()
    said, _, remedy = str(caught.value).removeprefix(f"{name}@{bare}: cannot be imported: ").partition("; ")
    assert remedy.startswith(f"install it with: {bare}/bin/python -m pip install ")
    # one adapter loads a file of its library, which it looks for by the name of the package
    missing = re.fullmatch(r"No module named '(\w+)'|No package metadata was found for (.+)", said)
    assert missing
    assert missing[1] in libraries(name) or missing[2] == name


def test_what_is_missing_there_is_said(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError) as caught:
        open_session(f"tokenizers@{bare}", None).__enter__()
    remedy = f"install it with: {bare}/bin/python -m pip install 'tokenizers>=0.21'"
    assert str(caught.value) == f"tokenizers@{bare}: cannot be imported: No module named 'tokenizers'; {remedy}"
    (bare.parent / "needy.py").write_text("import no_such_library")
    monkeypatch.chdir(bare.parent)
    with pytest.raises(DataError) as caught:
        open_session(f"needy:Adapter@{bare}", None).__enter__()
    remedy = f"install what it needs in {bare}"
    assert str(caught.value) == f"needy:Adapter@{bare}: cannot be imported: No module named 'no_such_library'; {remedy}"


def test_a_sentencepiece_that_lacks_what_the_adapter_calls_is_refused_once(bare: Path) -> None:
    folder = next((bare / "lib").iterdir()) / "site-packages"
    (folder / "sentencepiece.py").write_text(
        "class SentencePieceProcessor:\n    def encode(self, input, out_type=None): return []\n"
    )
    (folder / "sentencepiece-0.1.97.dist-info").mkdir()
    (folder / "sentencepiece-0.1.97.dist-info" / "METADATA").write_text("Name: sentencepiece\nVersion: 0.1.97\n")
    with pytest.raises(DataError) as caught:
        open_session(f"sentencepiece@{bare}", None).__enter__()
    lacks = "sentencepiece 0.1.97 gives no tokens with their spans"
    remedy = f"install it with: {bare}/bin/python -m pip install 'protobuf>=4' 'sentencepiece>=0.2.3'"
    assert str(caught.value) == f"sentencepiece@{bare}: {lacks}; {remedy}"
