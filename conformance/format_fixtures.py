"""Write the scalars of fixtures in one style; comments, line breaks and values stay.

    python conformance/format_fixtures.py [--check] [FOLDER]

Keys and names are plain: ids, types, reasons and whatever else the schema or the specification lists. All other strings
are in double quotes. What YAML would take for something else than a string is in double quotes wherever it stands.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

from tokspec.base.errors import DataError
from tokspec.base.files import fixtures_folder, paths_below, write_whole
from tokspec.suite.strict_yaml import parse_yaml, plain_value

#: Keys whose value is a name, if it is a string.
NAMED = {
    *("id", "model", "corpus", "operation", "type", "error", "relation", "erratum"),
    *("weights", "behavior", "prepend_scheme", "direction", "strategy", "sequence"),
    *("allowed_special", "disallowed_special", "origin", "kind", "refused", "fault"),
}
#: Keys of lists of names, and of objects from names to names.
LISTS_OF_NAMES = {"clauses", "tags"}
NAMES_OF_NAMES = {"choices"}
#: Keys of objects whose own keys are tokens.
BY_TOKEN = {"frequencies", "probabilities", "printed"}

#: What is a name: a word, a case's id or that of a row of it.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(#[0-9]+)?")


def formatted(text: str, name: str) -> str:
    """Return the text of a file in the one style; ``name`` is how errors call it.

    Raises:
        DataError: it is not a file that the suite reads.

    >>> formatted('"type": "bpe"\\nunknown_token: \\'[UNK]\\' # a token\\n', "x.yaml")
    'type: bpe\\nunknown_token: "[UNK]" # a token\\n'
    """
    value = parse_yaml(text, name).value
    changes = []
    for node, is_name in _scalars(yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)), "", ""):
        start, end = node.start_mark.index, node.end_mark.index
        if (written := _scalar(node, is_name=is_name)) != text[start:end] and written is not None:
            changes.append((start, end, written))
    new = text
    for start, end, written in reversed(changes):
        new = new[:start] + written + new[end:]
    if parse_yaml(new, name).value != value:
        raise DataError("would change its values; this is a fault of format_fixtures.py", name)
    return new


def _scalars(node: yaml.Node | None, key: str, above: str) -> Iterator[tuple[yaml.ScalarNode, bool]]:
    """Return the scalars below a node in their order, each with whether its place has a name.

    ``key`` is that of the node, or of its list, with ``[]``; ``above`` is the key of the object that it is in.
    """
    if isinstance(node, yaml.ScalarNode):
        yield node, key in NAMED or key.removesuffix("[]") in LISTS_OF_NAMES or above in NAMES_OF_NAMES
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _scalars(item, f"{key.removesuffix('[]')}[]", above)
    elif isinstance(node, yaml.MappingNode):
        for inner, value in node.value:
            yield inner, key not in BY_TOKEN
            yield from _scalars(value, inner.value, key)


def _scalar(node: yaml.ScalarNode, *, is_name: bool) -> str | None:
    """Write a scalar; nothing, if it stays as it is: a number, a constant, or text in double quotes."""
    text: str = node.value
    if not node.style and not isinstance(plain_value(text), str):
        return None
    if is_name and _NAME.fullmatch(text) and _is_text(text):
        return text
    return None if node.style == '"' else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _is_text(text: str) -> bool:
    try:
        return isinstance(plain_value(text), str)
    except ValueError:
        return False


def main(arguments: list[str]) -> int:
    """Format the files of a folder, or name those that are not in the style; the status is 1 then."""
    parser = argparse.ArgumentParser(description="Write the scalars of fixtures in one style.")
    parser.add_argument("--check", action="store_true", help="write nothing, and name the files that would change")
    parser.add_argument("folder", nargs="?", type=Path, default=fixtures_folder())
    options = parser.parse_args(arguments)
    is_other = False
    for file in paths_below(options.folder):
        if file.suffix != ".yaml":
            continue
        name, text = file.relative_to(options.folder).as_posix(), file.read_text("utf-8")
        if (new := formatted(text, name)) != text:
            is_other = True
            print(f"{name}: is not formatted" if options.check else f"{name}: formatted")
            if not options.check:
                write_whole(file, new)
    if is_other and options.check:
        print("run python conformance/format_fixtures.py")
    return int(is_other and options.check)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except DataError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
