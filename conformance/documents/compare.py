"""Compare what the fixtures say the five documents print with the documents, where they are at hand.

    python conformance/documents/compare.py FOLDER [--write]

FOLDER holds the documents as they are given out, under the names of ``FILES``. For each section that a case cites, the
digest of its text is compared with ``digests.json`` beside this file (``--write`` writes it). For each entry of
``stated``, what is ``printed`` is looked for in the sections of every document that is said to print it: its strings
and numbers, in order, with nothing but punctuation between them, or at most a few words. Exit status 0 if all is as
said, 1 if not.

It reads the fixtures by PyYAML alone and uses nothing of the project. The documents are not part of the project.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

FIXTURES = Path(__file__).parents[2] / "fixtures"
DIGESTS = Path(__file__).with_name("digests.json")

#: The files in which the documents of spec/00-terms.md are given out.
FILES = {
    "course-unigram": "000_369ec34b9276d350.plain.txt",
    "course-bpe": "001_0b94b5ed4e67ee14.plain.txt",
    "course-unigram-thai": "002_c40a981c83f9dfff.txt",
    "notebook-unigram": "003_93604c7619cf102e.txt",
    "notebook": "004_096c6f615954ee89.txt",
}

#: What stands before a notebook's first heading.
BEFORE_HEADINGS = "Normalization and pre-tokenization"

Section = tuple[str, str]  # document and heading


def entries() -> Iterator[tuple[str, Mapping[str, Any], list[Section]]]:
    """Each entry of ``stated``: its case, itself, and the sections that print it."""
    for path in sorted(FIXTURES.glob("*/*.yaml")):
        file = yaml.load(path.read_text("utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        for case in file.get("cases", []):
            sources = case.get("source", file["source"])
            sections = [(source["document"], source["section"]) for source in sources if "document" in source]
            for entry in case.get("stated", []):
                documents = entry.get("in", [document for document, _ in sections])
                yield case["id"], entry, [section for section in sections if section[0] in documents]


def cited() -> set[Section]:
    """Every section that a case cites."""
    return {section for _, _, sections in entries() for section in sections}


def read_sections(folder: Path, wanted: set[Section]) -> dict[Section, str]:
    """Cut each document at the headings that are cited; a heading is a line by itself, perhaps with marks before it.

    Raises:
        SystemExit: if a document or a heading is not there.
    """
    sections: dict[Section, str] = {}
    for document in sorted({document for document, _ in wanted}):
        path = folder / FILES[document]
        if not path.is_file():
            raise SystemExit(f"{path}: is not there; give the folder that holds the documents")
        current = BEFORE_HEADINGS
        for line in path.read_text("utf-8").splitlines():
            heading = re.sub(r"^[#\d.\s]+", "", line).strip()
            if (document, heading) in wanted and (document, heading) not in sections:
                current = heading
            sections[document, current] = sections.get((document, current), "") + line + "\n"
    missing = sorted(wanted - sections.keys())
    if missing:
        raise SystemExit("\n".join(f"{document}: has no section {heading!r}" for document, heading in missing))
    return {section: sections[section] for section in wanted}


def digest(text: str) -> str:
    """SHA-256 of a text whose white space is single spaces."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()


def leaves(printed: Any) -> Iterator[str]:
    """The strings and numbers of a value, as they are printed."""
    if isinstance(printed, dict):
        for key, value in printed.items():
            yield key
            yield from leaves(value)
    elif isinstance(printed, list):
        for value in printed:
            yield from leaves(value)
    else:
        yield printed if isinstance(printed, str) else repr(printed)


def plain(text: str) -> str:
    """Text without marks of layout: single spaces, no backticks, fractions on one line."""
    return " ".join(re.sub(r"\\frac\{(\d+)\}\{(\d+)\}", r"\1/\2", text.replace("`", "")).split())


def pattern(leaf: str) -> str:
    """A regular expression of one string or number that is no part of a longer number or word of ASCII."""
    leaf = plain(leaf)
    before = {"digit": r"(?<![\d.])", "letter": r"(?<![A-Za-z])"}.get(_kind(leaf[:1]), "")
    behind = {"digit": r"(?!\d)", "letter": r"(?![A-Za-z])"}.get(_kind(leaf[-1:]), "")
    return before + re.escape(leaf) + behind


def _kind(character: str) -> str:
    if not character.isascii():
        return "other"
    return "digit" if character.isdigit() else "letter" if character.isalpha() else "other"


def stands_in(printed: Any, text: str) -> bool:
    """Tell whether the strings and numbers of a value stand in a text, in order and near each other.

    >>> stands_in([["hug", 10], ["pug", 5]], 'corpus: ("hug", 10), ("pug", 5)'), stands_in([["hug", 5]], '("hug", 10)')
    (True, False)
    """
    parts = [pattern(leaf) for leaf in leaves(printed)]
    return any(re.search(gap.join(parts), plain(text)) for gap in (r"[^\w]{0,60}?", r".{0,60}?"))


def findings(texts: Mapping[Section, str], digests: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """One line for each digest that differs and for each printed value that is not found."""
    for (document, heading), text in sorted(texts.items()):
        if digests.get(document, {}).get(heading) != digest(text):
            yield f"{document}, {heading!r}: another text than that of digests.json"
    for case, entry, sections in entries():
        for document in sorted({document for document, _ in sections}):
            if not any(stands_in(entry["printed"], texts[section]) for section in sections if section[0] == document):
                yield f"{case}: {document} does not print {json.dumps(entry['printed'], ensure_ascii=False)}"


def main(arguments: Sequence[str]) -> int:
    if not arguments or arguments[0].startswith("-"):
        raise SystemExit("usage: compare.py FOLDER [--write]")
    texts = read_sections(Path(arguments[0]), cited())
    if "--write" in arguments:
        digests: dict[str, dict[str, str]] = {}
        for document, heading in sorted(texts):
            digests.setdefault(document, {})[heading] = digest(texts[document, heading])
        DIGESTS.write_text(json.dumps(digests, ensure_ascii=False, indent=1) + "\n", "utf-8")
    found = list(findings(texts, json.loads(DIGESTS.read_text("utf-8"))))
    for line in found:
        print(line)
    print(f"{len(texts)} sections, {sum(1 for _ in entries())} printed values: {len(found)} not as said")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
