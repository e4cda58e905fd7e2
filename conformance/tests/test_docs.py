"""What the documentation says is so: its links lead somewhere, its commands print what it shows."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tokspec.cli import tokspec
from tokspec.suite import schema

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
PAGES = sorted(
    page
    for page in ROOT.rglob("*.md")
    if not any(part.startswith(".") or part == "node_modules" for part in page.relative_to(ROOT).parts)
)

LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

#: A line that stands for any number of lines.
ANYTHING = "…\n"


def blocks(language: str) -> list[str]:
    return [body for name, body in BLOCK.findall(README) if name == language]


def commands(block: str) -> list[tuple[str, str]]:
    """Return every command of a block whose output it shows, with the output, and those of ours that print nothing."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    found = [part.partition("\n") for part in parts]
    return [(command, output) for command, _, output in found if output or command.startswith("tokspec ")]


SESSIONS = [session for session in map(commands, blocks("console")) if session]


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def run(command: str, folder: Path) -> str:
    words = shlex.split(command)
    return subprocess.run(
        words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
    ).stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder with the adapter that the README shows, and a model of the user's own."""
    folder = tmp_path_factory.mktemp("newcomer")
    (adapter,) = blocks("python")
    (folder / "my_adapter.py").write_text(adapter, "utf-8")
    model = ROOT / "conformance" / "tests" / "data" / "recordings" / "tokenizer.json"
    (folder / "tokenizer.json").write_bytes(model.read_bytes())
    return folder


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(BLOCK.sub("", page.read_text("utf-8"))):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not link.startswith("https://") and not (target.exists() and (not anchor or anchor in anchors(target))):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("session", SESSIONS, ids=[session[0][0] for session in SESSIONS])
def test_commands_print_what_the_readme_shows(session: list[tuple[str, str]], folder: Path) -> None:
    for command, output in session:
        printed = run(command, folder)
        pattern = "".join(
            r"(?:.*\n)*?" if line == ANYTHING else re.escape(line) for line in output.splitlines(keepends=True)
        )
        assert re.fullmatch(pattern, printed), printed


#: The rows of the table of results: a command, and what its last line says after the name and the state.
RESULTS = re.findall(r"^\| [^|]+ \| `(tokspec run[^`]*)` \| (\d[^|]+) \|$", README, re.MULTILINE)


KNOWN = "conformance/tokspec/adapters"


def test_the_table_of_results_has_three_rows() -> None:
    assert [command for command, _ in RESULTS] == [
        "tokspec run",
        f"tokspec run --impl tokenizers --known-failures {KNOWN}/huggingface.known-failures.yaml",
        'tokspec run --cmd "node conformance/adapters/node/adapter.mjs"'
        " --known-failures conformance/adapters/node/known-failures.yaml",
    ]


@pytest.mark.parametrize(("command", "result"), RESULTS[:2], ids=[command for command, _ in RESULTS[:2]])
def test_results_are_those_of_the_table(command: str, result: str) -> None:
    assert run(command, ROOT).splitlines()[-1].endswith(f" conforms: {result}")


@pytest.mark.interop
def test_the_result_of_the_program_is_that_of_the_table() -> None:
    command, result = RESULTS[2]
    assert run(command, ROOT).splitlines()[-1].endswith(f" conforms: {result}")


@pytest.mark.interop
def test_the_matrix_is_the_one_that_the_command_prints() -> None:
    shown = README.partition("<!-- matrix -->\n")[2].partition("<!-- end of matrix -->")[0].splitlines()
    printed = run("tokspec matrix --format markdown", ROOT).splitlines()
    assert [row for row in printed if row.startswith("|") and row not in shown] == []


def test_every_command_is_documented() -> None:
    assert [name for name in tokspec.list_commands(None) if f"tokspec {name}" not in README] == []


def test_the_table_of_operations_is_that_of_the_schema() -> None:
    protocol = (ROOT / "spec" / "10-protocol.md").read_text("utf-8")
    table = protocol[protocol.index("## Operations") : protocol.index("## Clauses")]
    assert tuple(dict.fromkeys(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))) == schema.operations()


def test_the_example_of_the_fixtures_is_one() -> None:
    page = (ROOT / "fixtures" / "README.md").read_text("utf-8")
    ((_, example),) = BLOCK.findall(page)
    assert (ROOT / "fixtures" / "bpe" / "toy-encoding.yaml").read_text("utf-8").startswith(example)
