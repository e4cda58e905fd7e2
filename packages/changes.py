"""Compare the bundles of two versions, by clause and case, for CHANGELOG; and hold the newer one to docs/versions.md.

    python packages/changes.py OLD.json NEW.json

Either may be compressed with gzip, as those of ``packages/releases`` are. Status 1 if a rule of versions is broken: a
case changed, or is new without its ``since``; a clause or a choice was removed, or a default option changed.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

#: What of a case never changes.
PERMANENT = ("model", "operation", "input", "inputs", "outcome", "tolerance")


def changed_clauses(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Return a line for each clause that is not what it was."""
    before, after = _by(old["clauses"], "id"), _by(new["clauses"], "id")
    for id, clause in after.items():
        if id not in before:
            yield f"{id} ({clause['level']}) is new: {clause['text']}"
        elif clause["level"] != before[id]["level"]:
            yield f"{id} is {clause['level']}, and was {before[id]['level']}"
        elif clause["text"] != before[id]["text"]:
            yield f"{id} is reworded: {clause['text']}"
    for choice in _by(new["choices"], "name").values():
        known = _by(old["choices"], "name").get(choice["name"], {"options": {}})
        for option in choice["options"]:
            if option not in known["options"]:
                yield f"{choice['name']} has the option {option}"


def changed_cases(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Return a line for each case that was added or removed."""
    before, after = _by(old["cases"], "id"), _by(new["cases"], "id")
    yield from (f"{id} is new ({', '.join(case['clauses'])})" for id, case in after.items() if id not in before)
    yield from (f"{id} is removed ({', '.join(case['clauses'])})" for id, case in before.items() if id not in after)


def broken_rules(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Return a line for each rule of docs/versions.md that the newer bundle breaks, and what to do."""
    before, after = _by(old["cases"], "id"), _by(new["cases"], "id")
    for id, case in after.items():
        if id not in before:
            if case["since"] != new["version"] or case["since"] == old["version"]:
                yield f'{id} is new: raise the version of the suite, and give it since: "{new["version"]}"'
        elif different := [
            key for key in PERMANENT if _under(case, key, old, new) != _under(before[id], key, old, new)
        ]:
            yield f"{id} has another {', '.join(different)}: give the case a new id"
    clauses, choices = _by(new["clauses"], "id"), _by(new["choices"], "name")
    yield from (
        f"{id} is gone: retire a clause, with its heading" for id in _by(old["clauses"], "id") if id not in clauses
    )
    for name, choice in _by(old["choices"], "name").items():
        if name not in choices:
            yield f"{name} is gone: a choice stays"
        elif lost := [option for option in choice["options"] if option not in choices[name]["options"]]:
            yield f"{name} has lost {', '.join(lost)}: an option stays"
        elif choice["default"] != choices[name]["default"]:
            yield f"{name} has another default: that turns gates red"


def _under(case: Mapping[str, Any], key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Any:
    """Return what stands under a key for those who know the older bundle: without new choices, options and lines."""
    value = case.get(key)
    if key == "inputs" and value:
        return [{**row, "line": 0, "outcome": _known(row["outcome"], old, new)} for row in value]
    return _known(value, old, new) if key == "outcome" and value else value


def _known(outcome: Mapping[str, Any], old: Mapping[str, Any], new: Mapping[str, Any]) -> Mapping[str, Any]:
    for name, outcomes in outcome.get("by_choice", {}).items():
        known = _by(old["choices"], "name").get(name)
        if known is None:  # nobody declares another option than the default, which is the old rule
            return _known(outcomes[_by(new["choices"], "name")[name]["default"]], old, new)
        found = {option: _known(outcomes[option], old, new) for option in known["options"]}
        first, *others = found.values()  # where all are one, it is as if the outcome did not depend on the choice
        return first if all(each == first for each in others) else {"by_choice": {name: found}}
    return outcome


def _by(entries: list[Mapping[str, Any]], key: str) -> dict[str, Mapping[str, Any]]:
    return {entry[key]: entry for entry in entries}


def read_bundle(file: Path) -> Mapping[str, Any]:
    """Read a bundle, compressed with gzip or not."""
    data = file.read_bytes()
    bundle: Mapping[str, Any] = json.loads(gzip.decompress(data) if file.suffix == ".gz" else data)
    return bundle


def main(files: list[str]) -> int:
    """Print the changes and what is wrong with them."""
    if len(files) != 2:
        print("usage: python packages/changes.py OLD.json NEW.json", file=sys.stderr)
        return 2
    old, new = (read_bundle(Path(file)) for file in files)
    print("\n".join(f"- {line}" for line in (*changed_clauses(old, new), *changed_cases(old, new))))
    broken = list(broken_rules(old, new))
    print("\n".join(broken), file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
