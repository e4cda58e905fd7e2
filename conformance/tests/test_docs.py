"""What the documentation says is so: its links lead somewhere, its options exist; test_manual.py runs its commands."""

from __future__ import annotations

import configparser
import re
import shlex
import tomllib
from pathlib import Path

import click
import pytest

from tokspec.cli import tokspec
from tokspec.suite import schema

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")

#: The pages for users.
MANUAL = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES = sorted(
    page
    for page in ROOT.rglob("*.md")
    if not any(part.startswith(".") or part == "node_modules" for part in page.relative_to(ROOT).parts)
)

LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    return [body for name, body in BLOCK.findall(page.read_text("utf-8")) if name == language]


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(BLOCK.sub("", page.read_text("utf-8"))):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not link.startswith("https://") and not (target.exists() and (not anchor or anchor in anchors(target))):
            broken.append(link)
    assert broken == []


def mentioned(page: Path) -> list[str]:
    """Return the commands of ours that a page mentions, in a line of their own or in the text."""
    text = page.read_text("utf-8")
    lines = re.findall(r"^(?: {4,}|\$ )(tokspec (?![^ ]*[:,]).+)$", text, re.MULTILINE)
    inline = re.findall(r"`(tokspec [^`]+)`", text)
    return [re.split(r"\s{2,}| \| | >> | && ", command)[0] for command in [*lines, *inline]]


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.name != "CHANGELOG.md" and mentioned(page)],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_commands_that_are_mentioned_exist(page: Path) -> None:
    """Their verbs and options do, and are shown in the help; for what is executed, see above."""
    for command in mentioned(page):
        words = shlex.split(command)[1:]
        found: click.Command = tokspec
        while isinstance(found, click.Group) and words and not words[0].startswith("-") and words[0] != "COMMAND":
            inner = found.get_command(click.Context(found), words.pop(0))
            assert inner, command
            found = inner
        if not isinstance(found, click.Group):
            hidden = {option for each in found.params if getattr(each, "hidden", False) for option in each.opts}
            assert hidden.isdisjoint(words), command
            # The option that ends a command in the text has no value.
            found.make_parser(click.Context(found)).parse_args([*words, "VALUE"])


def test_extras_and_environments_that_are_mentioned_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    environments = configparser.ConfigParser(interpolation=None)
    environments.read(ROOT / "tox.ini", "utf-8")
    for page in [*MANUAL, ROOT / "CONTRIBUTING.md"]:
        text = page.read_text("utf-8")
        extras = {extra for group in re.findall(r"'\.\[([\w,-]+)\]'", text) for extra in group.split(",")}
        assert extras <= {*project["optional-dependencies"]}
        assert {f"testenv:{name}" for name in re.findall(r"`tox run -e ([\w-]+)`", text)} <= {*environments}


def table(text: str, name: str) -> list[list[str]]:
    """Return the cells of the table between the marks of a name."""
    rows = text.partition(f"<!-- {name} -->\n")[2].partition(f"<!-- end of {name} -->")[0].splitlines()
    return [row.strip("| ").split(" | ") for row in rows if row.startswith("| ")][2:]


def test_results_by_effect_are_the_sums_of_those_by_chapter() -> None:
    page = (ROOT / "docs" / "results.md").read_text("utf-8")
    whole, effects = table(page, "matrix"), table(page, "effects")
    sums = [[*cells[:2], int(cells[-4]), int(cells[-3]) + int(cells[-2])] for cells in whole]
    counts = [(cells[:2], *(0 if cell == "·" else int(cell) for cell in cells[2:-1])) for cells in effects]
    assert [[*names, right, sum(failing)] for names, _, right, *failing in counts] == sums
    assert [asked - right - sum(failing) for _, asked, right, *failing in counts] == [0] * len(whole)
    best_known = table(README, "matrix")
    assert [row for row in effects if row in best_known] == best_known
    assert len(best_known) == 10


def test_every_command_is_documented() -> None:
    manual = "".join(page.read_text("utf-8") for page in MANUAL)
    context = click.Context(tokspec)
    dev = tokspec.get_command(context, "dev")
    assert isinstance(dev, click.Group)
    names = [*tokspec.list_commands(context), *(f"dev {name}" for name in dev.list_commands(context))]
    assert [name for name in names if f"tokspec {name}" not in manual] == []


def test_every_page_is_in_the_list_of_pages() -> None:
    listed = LINK.findall((ROOT / "docs" / "README.md").read_text("utf-8"))
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"} <= {*listed}


def test_the_table_of_operations_is_that_of_the_schema() -> None:
    protocol = (ROOT / "spec" / "10-protocol.md").read_text("utf-8")
    table = protocol[protocol.index("## Operations") : protocol.index("## Many texts at once")]
    assert tuple(dict.fromkeys(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))) == schema.operations()


def test_the_example_of_the_fixtures_is_one() -> None:
    page = (ROOT / "fixtures" / "README.md").read_text("utf-8")
    (_, example), *_ = BLOCK.findall(page)
    assert (ROOT / "fixtures" / "bpe" / "toy-encoding.yaml").read_text("utf-8").startswith(example)
