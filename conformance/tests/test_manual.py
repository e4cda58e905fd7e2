"""Every command of the README and the manual, run as it stands there, with the suite installed and not editable.

The commands of a page run one after the other in one folder: a copy of the checkout with the files that a reader of
the page would have. A command whose output is shown prints that; the numbers of cases, which change with every case,
are compared where all figures are, under the marker ``interop``. Any other ends with status 0, or with 1, by which the
suite says that something differs. What needs a network, such as ``pip install``, is left out where there is none, and
what it installs has to be there; under the marker ``interop`` it runs too, in a new environment. Benchmarks take
minutes, so these tests never run them; each has its own job in ``tox.ini``.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

import tokspec

pytestmark = pytest.mark.pages

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

#: What a page tells its reader to type: blocks in fences, and lines set off by four spaces.
PART = re.compile(
    r"^```(console|sh)\n(.*?)^```$|^ {4,}((?:\w+=\S+ )?(?:pip|npm|python|pytest|tokspec|go|mvn|\S+/pip) [^\n]+)$",
    re.M | re.S,
)
NETWORK = re.compile(
    r"pip install|[a-z]==[0-9]|tokspec history|^npm |/fetch\.py |conformance/tests/real|_FAILURES=\S+ go "
)
MEASURED = re.compile("python (conformance/bench/[^ ]+)")
LINE = re.compile(r"(.+?)(?: {2,}.*)?$")

#: A line of output that stands for any number of lines.
ANYTHING = "…\n"


class Command(NamedTuple):
    """A command, with the output that the page shows of it."""

    line: int
    text: str
    output: str | None = None

    @property
    def needs_network(self) -> bool:
        return bool(NETWORK.search(self.text))


def commands(page: Path) -> list[Command]:
    """Return the commands of a page in their order."""
    text, found = page.read_text("utf-8"), []
    for part in PART.finditer(text):
        language, body, line = part.groups()
        number = text.count("\n", 0, part.start()) + 1
        if line:
            found.append(Command(number, LINE.fullmatch(line)[1]))  # type: ignore[index]
        elif language == "sh":
            found.append(Command(number, body))
        else:
            for each in re.split(r"^\$ ", body, flags=re.M)[1:]:
                command, _, output = each.partition("\n")
                found.append(Command(number, command, output if output or command.startswith("tokspec ") else None))
    return found


COMMANDS = {page: found for page in PAGES if (found := commands(page))}


def parameters(found: Iterable[Path]) -> list[object]:
    return [pytest.param(page, id=page.name) for page in found]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the checkout, with the files that the reader of a page has: adapters, models, texts, an old report."""
    place = tmp_path / "work"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, place / name)
    (adapter,) = re.findall(r"^```python\n(.*?)^```$", PAGES[0].read_text("utf-8"), re.M | re.S)
    (place / "my_adapter.py").write_text(adapter, "utf-8")
    model = (ROOT / "conformance" / "tests" / "data" / "recordings" / "tokenizer.json").read_bytes()
    for name in ("tokenizer.json", "before/tokenizer.json", "after/tokenizer.json", "FOLDER/tokenizer.json"):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_bytes(model)
    for name in ("texts", "logs", "parts"):
        (place / name).mkdir()
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"body": ["one text", "another"]}), place / "parts" / "1.parquet")
    (place / "tokspec-known-failures.yaml").write_text("known_failures: []\n", "utf-8")
    (place / "texts" / "some.txt").write_text("a few words\nof two lines\n", "utf-8")
    (place / "cl100k.tiktoken").write_text("YQ== 0\nYg== 1\nIA== 2\nYWI= 3\n", "utf-8")
    (place / "cl100k.beside.json").write_text(
        json.dumps({"pattern": r" ?\p{L}+|\s+", "special_tokens": {"<|end|>": 4}})
    )
    with gzip.open(place / "logs" / "some.jsonl.gz", "wt") as stream:
        stream.write('{"text": "another text"}\n')
    tokspec_command = [sys.executable, "-m", "tokspec"]
    made = tmp_path / "made"
    subprocess.run([*tokspec_command, "init", "--lang", "javascript", made], check=True, stdout=subprocess.DEVNULL)
    (place / "project").mkdir()  # a repository of the reader's, in which the suite is a plug-in for pytest
    for file in made.glob("*.mjs"):
        for target in (place, place / "project"):
            (target / file.name).write_text(file.read_text("utf-8").replace("  // encode", "  encode"), "utf-8")
    report = ["run", "--impl", "my_adapter:Adapter", "--report", "old.ndjson"]
    record = ["record", "tokenizers", "--model", "tokenizer.json", "-o", "after.ndjson.gz"]
    for arguments in (report, record):
        subprocess.run([*tokspec_command, *arguments], cwd=place, stdout=subprocess.DEVNULL)
    return place


def run_page(page: Path, folder: Path, programs: Path, *, network: bool) -> list[str]:
    """Run the commands of a page; return each that does not do what the page says, with what it did."""
    environment = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    environment["PATH"] = f"{programs}{os.pathsep}{environment['PATH']}"
    environment["GITHUB_STEP_SUMMARY"] = str(folder / "summary.md")
    wrong = []
    for each in COMMANDS[page]:
        if MEASURED.match(each.text) or (each.needs_network and not network):
            continue
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", each.text],
            cwd=folder / "project" if each.text.startswith("pytest --tokspec") else folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        pattern = "(?s:.*)"
        if each.output is not None:
            lines = each.output.splitlines(keepends=True)
            pattern = "".join(r"(?:.*\n)*?" if line == ANYTHING else re.escape(line) for line in lines)
        if done.returncode not in (0, 1) or not re.fullmatch(pattern, done.stdout):
            wrong.append(
                f"{page.name}:{each.line}: {each.text}: {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-1000:]}"
            )
    return wrong


def make_old_environment(folder: Path, packages: str) -> None:
    """Make the reader's other environment, in which what is in ``packages`` is installed."""
    venv.create(folder / "old-venv", symlinks=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder / "old-venv")}))
    (site / "installed.pth").write_text(packages, "utf-8")


@pytest.mark.parametrize("page", parameters(COMMANDS))
def test_a_page_says_what_happens(page: Path, folder: Path) -> None:
    if Path(tokspec.__file__).is_relative_to(ROOT / "conformance"):
        pytest.skip("the suite is installed editable: tox run -e docs")
    make_old_environment(folder, sysconfig.get_path("purelib"))
    assert run_page(page, folder, Path(sys.executable).parent, network=False) == []


def test_every_benchmark_of_the_manual_has_a_job_of_its_own() -> None:
    found = [match[1] for each in COMMANDS.values() for command in each if (match := MEASURED.match(command.text))]
    jobs = (ROOT / "tox.ini").read_text("utf-8")
    assert found == ["conformance/bench/tokfast_speed.py", "conformance/bench/harness.py"]
    assert [script for script in found if f"commands = - python {script} {{posargs}}" not in jobs] == []


@pytest.mark.interop
@pytest.mark.parametrize(
    "page", parameters(page for page, found in COMMANDS.items() if any(each.needs_network for each in found))
)
def test_a_page_says_what_happens_with_a_network(page: Path, folder: Path, tmp_path: Path) -> None:
    """In a new environment, in which the suite is installed as the README begins."""
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    programs = environment / ("Scripts" if os.name == "nt" else "bin")
    subprocess.run([programs / "python", "-m", "pip", "install", "-q", ".[tokenizers]"], cwd=folder, check=True)
    make_old_environment(folder, sysconfig.get_path("purelib", vars={"base": str(environment)}))
    assert run_page(page, folder, programs, network=True) == []
