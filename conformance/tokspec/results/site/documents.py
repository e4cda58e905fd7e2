"""The pages of the specification and the manual, rendered for the site."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tokspec.base.files import fixtures_folder, specification_folder

#: A page with no more headings than this has no table of contents.
_FEW = 4

_CLAUSE = re.compile(r"([A-Z][A-Z0-9]*(?:-[A-Z]+)*-\d+)(?: |$)")


def documents() -> dict[str, Path]:
    """Return the chapters, and in a checkout the pages of docs/, by the file of each in the site."""
    chapters = sorted(specification_folder().glob("*.md"))
    found = {f"spec/{file.stem}.html": file for file in chapters}
    found["spec/index.html"] = chapters[0]
    docs = fixtures_folder().parent / "docs"
    found |= {f"docs/{file.stem}.html": file for file in sorted(docs.glob("*.md"))}
    found |= {f"docs/letters/{file.stem}.html": file for file in sorted(docs.glob("letters/*.md"))}
    if (docs / "README.md").is_file():
        found["docs/index.html"] = docs / "README.md"
    return found


def title_of(file: Path) -> str:
    """Return the title of a page."""
    first = next((line for line in file.read_text("utf-8").splitlines() if line.startswith("# ")), file.stem)
    return first.removeprefix("# ")


def page_body(source: Path, file: str) -> str:
    """Render a page: headings have anchors, links lead to the pages of the site."""
    tokens = _renderer().parse(source.read_text("utf-8"))
    depths = list[int]()
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", _anchor(tokens[index + 1].content))
            depth = int(token.tag[1])
            depths = [*(each for each in depths if each < depth), depth]
            token.tag = f"h{len(depths)}"  # no level is skipped, for users of screen readers
        elif token.type == "heading_close":
            token.tag = f"h{len(depths)}"
        elif token.type == "inline" and token.children and token.content.startswith("[ ] "):
            token.children[0].content = token.children[0].content.replace("[ ]", "☐", 1)  # an entry of a checklist
        _lead_links(token.children or (), source, file)
    body: str = _renderer().renderer.render(tokens, _renderer().options, {})
    heads = [(tokens[index + 1].content, token) for index, token in enumerate(tokens) if token.type == "heading_open"]
    if len(heads) > _FEW:
        listed = "".join(f'<li><a href="#{head.attrGet("id")}">{_plain(text)}</a></li>' for text, head in heads[1:])
        contents = f'<nav aria-label="On this page"><ul class="flat">{listed}</ul></nav>'
        body = body.replace("</h1>", f"</h1>\n{contents}", 1)
    if file == "spec/index.html":
        listed = "".join(
            f'<li><a href="{chapter.stem}.html">{title_of(chapter)}</a></li>'
            for chapter in sorted(specification_folder().glob("*.md"))
        )
        return f"<h1>Specification</h1><ol>{listed}</ol>{body}"
    return body


def inline(text: str, chapter: str, file: str) -> str:
    """Render a line of a chapter for a page of the site."""
    tokens = _renderer().parseInline(text)
    for token in tokens:
        _lead_links(token.children or (), specification_folder() / f"{chapter}.md", file)
    rendered: str = _renderer().renderer.render(tokens, _renderer().options, {})
    return rendered


def _lead_links(tokens: Sequence[Token], source: Path, file: str) -> None:
    """Point links to pages of the site; a link to any other file of the repository becomes text."""
    opened: list[str] = []
    for token in tokens:
        href = token.attrGet("href")
        if token.type == "link_open" and isinstance(href, str):
            address = _address(href, source, file)
            opened.append("a" if address else "span")
            token.tag, token.attrs = opened[-1], {"href": address} if address else {"title": href}
        elif token.type == "link_close":
            token.tag = opened.pop()


def _plain(heading: str) -> str:
    """Return the text of a heading for the table of contents; for a clause, its id."""
    clause = _CLAUSE.match(heading)
    return escape(clause[1] if clause else re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", heading).replace("`", ""))


def _anchor(heading: str) -> str:
    clause = _CLAUSE.match(heading)
    return (clause[1] if clause else re.sub(r"[^\w-]+", "-", heading.strip("`"))).strip("-").lower()


def _address(href: str, source: Path, file: str) -> str:
    """Return the target of a link; empty if it is not a page of the site."""
    if href.startswith(("https://", "http://", "#")):
        return href
    path, mark, anchor = href.partition("#")
    target = (source.parent / path).resolve()
    pages = {page.resolve(): name for name, page in documents().items() if not name.endswith("index.html")}
    return "../" * file.count("/") + pages[target] + mark + anchor.lower() if target in pages else ""


@cache
def _renderer() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")
