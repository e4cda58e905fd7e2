"""Finding implementations by name, by module and object, and by command line."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tokspec.adapter import Hello
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.adapters.registry import find, find_reference, installable, known_names, open_session, usable_names
from tokspec.base.errors import DataError
from tokspec.sessions.in_process import InProcessSession
from tokspec.sessions.program import ProgramSession

PROGRAM = Path(__file__).parent / "programs" / "characters.py"

MODULE = """
import sys
from tokspec.adapter import Hello

class Mine:
    def hello(self): return Hello("mine", "1", "Python", operations=())
    def load(self, format, content): return content
    def run(self, operation, model, input): return {}

class Holder:
    inner = Mine

instance = Mine()
halves = 5

def factory(): return Mine()
def broken(): raise ValueError("no \\x1b[31mvocabulary")
def leaves(): sys.exit(3)
def needy(): import tokspec_needs_this

class Half:
    def hello(self): return None

class Raising(Mine):
    @property
    def hello(self): raise RuntimeError("no hello")

class Dynamic:
    def __getattr__(self, name): raise RuntimeError("no attribute")

class Unsayable(Exception):
    def __str__(self): raise RuntimeError("no text")

def unsayable(): raise Unsayable()
"""

Write = Callable[[str, str], None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Write modules into the current folder; forget them afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield lambda name, text: (tmp_path / f"{name}.py").write_text(text, "utf-8") and None
    for name in set(sys.modules) - before:
        if name.startswith("mine"):
            del sys.modules[name]


def test_a_name_is_that_of_an_entry_point() -> None:
    names = known_names()
    assert names == sorted(names)
    assert {"reference", "tokenizers"} <= set(names)
    assert isinstance(find("reference").make(), ReferenceAdapter)


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(DataError) as error:
        find("tokenisers")
    assert str(error.value) == (
        f"tokenisers: is not installed; did you mean tokenizers? installed are {', '.join(usable_names())}; "
        f"{installable()}; or give module:object, or a command"
    )


def test_an_unknown_name_near_none_is_answered_with_all() -> None:
    with pytest.raises(DataError) as error:
        find("\x1b[2J")
    assert str(error.value) == (
        f"\\x1b[2J: is not installed; installed are {', '.join(usable_names())}; "
        f"{installable()}; or give module:object, or a command"
    )


def test_only_what_can_run_is_called_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "zz-1.0.dist-info"
    package.mkdir()
    needs = "Requires-Dist: no-such-library>=2; extra == 'zz-needy'\nRequires-Dist: click; extra == 'zz-here'\n"
    (package / "METADATA").write_text(f"Metadata-Version: 2.1\nName: zz\nVersion: 1.0\n{needs}", "utf-8")
    names = "zz-needy = zz:A\nzz-here = zz:B\nzz-free = zz:C\n"
    (package / "entry_points.txt").write_text(f"[tokspec.implementations]\n{names}", "utf-8")
    before = set(known_names())
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(DataError) as error:
        find("zz-needi")
    said = re.fullmatch(
        r"zz-needi: is not installed; did you mean zz-needy\? installed are (.*?); NAME==VERSION .*", str(error.value)
    )
    assert said is not None
    assert (
        {"reference", "tokenizers", "zz-free", "zz-here"} <= set(said[1].split(", ")) <= before | {"zz-free", "zz-here"}
    )


def test_a_name_that_two_packages_announce_is_nobodys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "zz-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: zz\nVersion: 1.0\n", "utf-8")
    (package / "entry_points.txt").write_text("[tokspec.implementations]\nreference = zz:Adapter\n", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(DataError) as error:
        find("reference")
    ours = "tokspec: tokspec.adapters.reference:ReferenceAdapter"
    assert str(error.value) == f"reference: is announced twice, as {ours} and zz: zz:Adapter; give module:object"
    with open_session(find_reference(), None) as session:  # which has no need of its name
        assert replace(session.hello, many=()) == ReferenceAdapter().hello()


@pytest.mark.parametrize("name", ["Mine", "factory", "instance", "Holder.inner"])
def test_an_object_is_a_class_a_factory_or_an_instance_in_the_current_folder(write: Write, name: str) -> None:
    write("mine", MODULE)
    hello = Hello("mine", "1", "Python", operations=())
    assert find(f"mine:{name}").make().hello() == hello
    with open_session(f"mine:{name}", None) as session:
        assert session.hello == hello


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("mine:Other", "mine:Other: cannot be found: module 'mine' has no attribute 'Other'"),
        ("mine:Half", "mine:Half: is not an adapter: it has no load and no run; see tokspec.adapter.Adapter"),
        (
            "mine:halves",
            "mine:halves: is not an adapter: it has no hello and no load and no run; see tokspec.adapter.Adapter",
        ),
        (
            "mine:broken",
            "mine:broken: cannot be created: ValueError: no \\x1b[31mvocabulary; import it by hand to see where",
        ),
        ("mine:Raising", "mine:Raising: cannot be created: RuntimeError: no hello; import it by hand to see where"),
        ("mine:Dynamic", "mine:Dynamic: cannot be created: RuntimeError: no attribute; import it by hand to see where"),
        (
            "mine:unsayable",
            "mine:unsayable: cannot be created: Unsayable: a message that cannot be shown; import it by hand to see where",
        ),
        ("mine:leaves", "mine:leaves: cannot be created: SystemExit: 3; import it by hand to see where"),
        (
            "mine:needy",
            "mine:needy: cannot be imported: No module named 'tokspec_needs_this'; "
            "install what it needs in this environment",
        ),
        ("mine_other:X", "mine_other:X: there is no module mine_other in this folder or this environment"),
        (
            "mine_needy:X",
            "mine_needy:X: cannot be imported: No module named 'tokspec_needs_this'; "
            "install what it needs in this environment",
        ),
        (
            "mine_wrong:X",
            "mine_wrong:X: cannot be created: SyntaxError: invalid syntax (mine_wrong.py, line 1); "
            "import it by hand to see where",
        ),
    ],
)
@pytest.mark.parametrize("in_process", [False, True], ids=["hosted", "in process"])
def test_an_object_that_cannot_be_had_is_said_to_be_so(write: Write, spec: str, message: str, in_process: bool) -> None:
    write("mine", MODULE)
    write("mine_needy", "import tokspec_needs_this")
    write("mine_wrong", "class :")
    with pytest.raises(DataError) as error:
        open_session(spec, None, in_process=in_process)
    assert str(error.value) == message


@pytest.mark.parametrize("spec", [":", "a:", ":b", "a b:c", "a:b:c", "./mine.py:X"])
def test_a_specification_of_another_form_is_refused(write: Write, spec: str) -> None:
    with pytest.raises(DataError) as error:
        find(spec)
    assert str(error.value) == f"{spec}: is not of the form package.module:Object"


def test_a_missing_package_of_a_built_in_is_named_with_its_version(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("tokenizers", "raise ModuleNotFoundError(\"No module named 'tokenizers'\", name='tokenizers')")
    monkeypatch.syspath_prepend(Path.cwd())
    with pytest.raises(DataError) as error:
        open_session("tokenizers", None)
    assert str(error.value) == (
        "tokenizers: cannot be imported: No module named 'tokenizers'; install it with: pip install 'tokenizers>=0.21'"
    )


def test_nobody_elses_code_is_imported_here(write: Write) -> None:
    write("mine", MODULE)
    find("mine:Mine")
    with open_session("mine:Mine", None) as session:
        assert isinstance(session, ProgramSession)
    assert "mine" not in sys.modules
    with open_session("mine:Mine", None, in_process=True) as session:
        assert isinstance(session, InProcessSession)
    assert "mine" in sys.modules


def test_only_the_reference_itself_needs_no_process() -> None:
    assert [find(name).is_ours for name in ("reference", "tokenizers")] == [True, False]
    assert not find("tokspec.adapters.reference:ReferenceAdapter").is_ours


def test_the_reference_is_found_by_its_name_and_without_a_look_at_other_packages() -> None:
    assert find_reference() == find("reference")
    program = (
        "import sys; from tokspec.adapters.registry import find_reference; find_reference().make(); print(*sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "importlib.metadata" not in ended.stdout.split()


def test_a_session_is_opened_with_an_adapter_or_a_program() -> None:
    with open_session("reference", None) as session:
        assert isinstance(session, InProcessSession)
    with open_session(None, f"'{sys.executable}' '{PROGRAM}' good") as session:
        assert isinstance(session, ProgramSession)
        assert session.hello == Hello("characters", "1", "Python", operations=("encode",))


@pytest.mark.parametrize(
    ("impl", "command", "message"),
    [
        (None, None, "name one implementation: an installed one, module:object, or a command"),
        ("reference", "cat", "name one implementation: an installed one, module:object, or a command"),
        (None, "", "the command is empty; give a program and its arguments"),
        (None, "cat 'x", '"cat \'x": is not a command line: no closing quotation'),
        (
            None,
            "no-such-program --fast",
            "'no-such-program --fast': cannot be started: there is no program 'no-such-program'; "
            "give its path, put it on the PATH, or install its interpreter",
        ),
        (
            None,
            f"{Path(__file__).parent}",
            f"'{Path(__file__).parent}': cannot be started: '{Path(__file__).parent}' is not executable; "
            "run chmod +x, or put its interpreter before it",
        ),
    ],
)
def test_a_session_that_cannot_be_opened(impl: str | None, command: str | None, message: str) -> None:
    with pytest.raises(DataError) as error:
        open_session(impl, command)
    assert str(error.value) == message
