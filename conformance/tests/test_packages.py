"""The cases without Python: the packages of other languages give the verdicts of the harness, case by case.

``python packages/make.py`` writes their cases; the adapters that they judge have to be built, as their READMEs say.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import date
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tokspec.adapter import Hello
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.judge.known_failures import digest, read_known_failures
from tokspec.judge.runner import make_request
from tokspec.judge.verdicts import Result, Verdict, effective_choices, join_rows, judge
from tokspec.protocol.json_values import encode_line
from tokspec.protocol.messages import Answer, Fault, Refused, Reply, write_hello
from tokspec.protocol.spans import convert_result
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite import schema
from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite

pytestmark = [pytest.mark.interop, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "packages"
ADAPTERS = ROOT / "conformance" / "adapters"

NODE = "node conformance/adapters/node/adapter.mjs"
KITOKEN = "conformance/adapters/rust/target/release/kitoken"

#: What each framework says of a test, and the verdict that this stands for.
OF_TAP = {"SKIP": "unsupported", "TODO": "known failure"}


@pytest.fixture(scope="module", autouse=True)
def _made() -> None:
    subprocess.run([sys.executable, PACKAGES / "make.py"], check=True, stdout=subprocess.DEVNULL)


def harness(command: str, known: str, folder: Path) -> dict[str, str]:
    """Return the verdict of every case as the harness gives it."""
    report = folder / "run.ndjson"
    arguments = ["run", "--cmd", command, "--show", "0", "--report", str(report)]
    arguments += ["--known-failures", str(ADAPTERS / known)] if known else []
    subprocess.run([sys.executable, "-m", "tokspec", *arguments], cwd=ROOT, stdout=subprocess.DEVNULL)
    records = [json.loads(line) for line in report.read_text("utf-8").splitlines()]
    return {record["case"]: record["verdict"] for record in records if "verdict" in record}


def node_test(file: Path) -> dict[str, str]:
    """Run a file of tests by ``node --test`` and return the verdict of every case."""
    command = ["node", "--test", "--test-reporter=tap", str(file)]
    tap = subprocess.run(command, cwd=file.parent, capture_output=True, text=True).stdout
    verdicts: dict[str, str] = {}
    pattern = r"^ *(ok|not ok) \d+ - (.+?)(?: # (SKIP|TODO).*)?\n(?: *---\n((?:.*\n)*?) *\.\.\.\n)?"
    for state, name, directive, details in re.findall(pattern, tap, re.MULTILINE):
        found = re.search(r"error: (?:\|-\n +|['\"])?([a-z ]+):", details)
        verdicts[name] = OF_TAP.get(directive) or ("pass" if state == "ok" else found[1] if found else details)
    return verdicts


def cargo(*arguments: str, **environment: str) -> dict[str, str]:
    """Run a test of the crate and return the verdict of every case."""
    command = ["cargo", *arguments, "--", "--format=pretty"]
    settings = {**os.environ, **environment}
    done = subprocess.run(command, cwd=PACKAGES / "crate", capture_output=True, text=True, env=settings)
    failed = dict(re.findall(r"^---- (\S+) ----\n([a-z ]+):", done.stdout, re.MULTILINE))
    lines = re.findall(r"^test (.+?) +\.\.\. (ok|FAILED|ignored)(?: \(([a-z ]+):.*)?$", done.stdout, re.MULTILINE)
    states = {"ok": lambda name: "pass", "FAILED": lambda name: failed.get(name, "?")}
    return {name: reason or states[state](name) for name, state, reason in lines}


def test_node_test_gives_the_verdicts_of_the_harness(tmp_path: Path) -> None:
    verdicts = node_test(PACKAGES / "npm" / "test" / "huggingface.test.mjs")
    assert verdicts.pop("the run") == "pass"
    assert verdicts == harness(NODE, "node/known-failures.yaml", tmp_path)


def test_node_test_gives_the_verdicts_of_the_harness_without_known_failures(tmp_path: Path) -> None:
    test = (PACKAGES / "npm" / "test" / "huggingface.test.mjs").read_text("utf-8")
    test = test.replace(", { knownFailures: fileURLToPath(file) }", "")
    test = test.replace('"../', f'"{PACKAGES.as_uri()}/npm/')
    file = tmp_path / "bare.test.mjs"
    file.write_text(test, "utf-8")
    verdicts = node_test(file)
    assert verdicts.pop("the run") == "pass"
    assert verdicts == harness(NODE, "", tmp_path)


def test_cargo_test_gives_the_verdicts_of_the_harness(tmp_path: Path) -> None:
    verdicts = cargo("test", "--quiet", "--locked", "--test", "kitoken")
    assert verdicts.pop("the run") == "pass"
    assert verdicts == harness(KITOKEN, "rust/kitoken/known-failures.yaml", tmp_path)


#: An implementation that offers everything, and whose answers are recorded.
HELLO = Hello(
    "recorded",
    "1",
    "none",
    operations=tuple(schema.operations()),
    choices={"offset_unit": "utf16", "bpe_merge_order": "lowest_rank"},
    encode_fields=("tokens", "ids", "spans", "type_ids", "sequence_ids"),
    encode_options=("pair", "add_special_tokens"),
    decode_options=("skip_special_tokens",),
    components=(
        *("vocabulary_ids", "added_tokens", "normalizer", "pre_tokenizer", "model"),
        *("post_processor", "truncation", "padding", "decoder"),
    ),
)


def questions() -> list[Case]:
    """Return what is asked: every case, and every row of a table."""
    return [question for case in load_suite().cases.values() for question in case.questions]


@cache
def right_replies() -> Sequence[Reply]:
    """Return what the reference answers to every case, with spans in the unit of ``HELLO``."""
    cases = questions()
    with InProcessSession(ReferenceAdapter()) as session:
        replies = dict(session.ask([make_request(case) for case in cases]))
    for index, case in enumerate(cases):
        if isinstance(reply := replies[index], Answer):
            replies[index] = Answer(convert_result(reply.result, case.input, "utf16"))
    return [replies[index] for index in range(len(cases))]


def change(value: Any, number: Callable[[Any], Any], items: Callable[[list[Any]], list[Any]]) -> Any:
    """Return a result with every number and every list changed."""
    if isinstance(value, dict):
        return {key: change(item, number, items) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return items([change(item, number, items) for item in value])
    return number(value) if isinstance(value, int | float) else value


def same(value: Any) -> Any:
    return value


def integer(value: float) -> float:
    """Return what JavaScript writes for a number: 1 for 1.0."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


#: What can be wrong with a result, or is within the tolerance.
CHANGES: Sequence[Callable[[Any], Any]] = (
    lambda result: {key: item for key, item in result.items() if key != "spans"},
    lambda result: {key: item for key, item in result.items() if key != "ids"},
    lambda result: change(result, same, lambda items: items[:-1]),
    lambda result: change(result, same, lambda items: [*items, *items[-1:]]),
    lambda result: change(result, lambda value: max(value - 1, 0), same),
    lambda result: change(result, lambda value: value * (1 + 1e-12) if isinstance(value, float) else value, same),
    lambda result: change(result, lambda value: value + 1e-6 if isinstance(value, float) else value, same),
    lambda result: change(result, lambda value: value * 1e-9 if isinstance(value, float) else value, same),
    lambda result: {key: item + "\x7fé🙂" if isinstance(item, str) else item for key, item in result.items()},
)


def disturb(reply: Reply, operation: str, chance: random.Random) -> Reply:
    """Return a reply that may be another, and is of the operation's form."""
    kind = chance.randrange(12)
    if kind == 0:
        return Refused(chance.choice(["invalid_model", "unknown_symbol", "unsupported"]), "as recorded")
    if kind == 1:
        return Fault("crash", "as recorded")
    if kind < 9 and isinstance(reply, Answer):
        result = chance.choice(CHANGES)(reply.result)
        if not list(schema.errors(result, f"operations/{operation}/result")):
            return Answer(result)
    return reply


def record(reply: Reply) -> dict[str, Any]:
    if isinstance(reply, Answer):
        return {"ok": reply.result}
    return {"refused": reply.reason} if isinstance(reply, Refused) else {"crashed": True}


def write_known_failures(results: Sequence[Result], chance: random.Random, file: Path) -> None:
    """List some cases: most as they fail, some otherwise, some past their date, and some that pass."""
    lines = ["known_failures:" if results else "known_failures: []"]
    for result in results:
        has_surrogate = b'"hex"' in encode_line(
            {"replies": [record(each.reply) for each in (result, *result.rows) if each.reply]}
        )  # the packages' digest is another
        if result.verdict is Verdict.UNSUPPORTED or has_surrogate or chance.random() < 0.5:
            continue
        listed = Verdict.FAIL if result.verdict is Verdict.PASS else result.verdict
        seen = digest(result) if chance.random() < 0.8 else "0123456789abcdef"
        entry = {"verdict": listed.value, "digest": seen, "reason": "A test."}
        if chance.random() < 0.4:
            entry["expires"] = chance.choice(["2020-02-29", "2999-12-31", date.today().isoformat()])
        lines += [f'  - case: "{result.case.id}"', *(f'    {key}: "{value}"' for key, value in entry.items())]
    file.write_text("\n".join(lines) + "\n", "utf-8")


NODE_RECORDED = """
import {{ readFileSync }} from "node:fs";
import {{ register }} from "{index}";
const {{ hello, replies }} = JSON.parse(readFileSync("recording.json", "utf8"));
const next = () => {{
  const reply = replies.shift();
  if (reply.refused) throw Object.assign(new Error("as recorded"), {{ reason: reply.refused }});
  if (reply.crashed) throw new Error("as recorded");
  return reply.ok;
}};
const operations = Object.fromEntries(hello.operations.map((name) => [name, next]));
register({{ hello, load: () => null, operations }}, {{ knownFailures: "known.yaml" }});
"""


def node_recorded(folder: Path) -> dict[str, str]:
    test = folder / "recorded.test.mjs"
    test.write_text(NODE_RECORDED.format(index=(PACKAGES / "npm" / "index.mjs").as_uri()), "utf-8")
    return node_test(test)


def cargo_recorded(folder: Path) -> dict[str, str]:
    files = {"RECORDING": str(folder / "recording.json"), "KNOWN_FAILURES": str(folder / "known.yaml")}
    return cargo("run", "--quiet", "--locked", "--example", "recorded", **files)


@pytest.mark.parametrize("recorded", [node_recorded, cargo_recorded])
@pytest.mark.parametrize("seed", range(3))
def test_recorded_replies_get_the_verdicts_of_the_harness(
    seed: int, recorded: Callable[[Path], dict[str, str]], tmp_path: Path
) -> None:
    chance = random.Random(seed)
    pairs = zip(questions(), right_replies(), strict=True)
    replies = [disturb(reply, case.operation, chance) if seed else reply for case, reply in pairs]
    if recorded is node_recorded:
        replies = [Answer(change(each.result, integer, same)) if isinstance(each, Answer) else each for each in replies]
    choices = effective_choices(HELLO)
    judged = iter([judge(case, reply, HELLO, choices) for case, reply in zip(questions(), replies, strict=True)])
    results = [
        join_rows(case, [*islice(judged, len(case.rows))]) if case.rows else next(judged)
        for case in load_suite().cases.values()
    ]
    recording = {"hello": write_hello(HELLO), "replies": [record(reply) for reply in replies]}
    (tmp_path / "recording.json").write_bytes(encode_line(recording))
    write_known_failures(results if seed else [], chance, tmp_path / "known.yaml")
    known = read_known_failures(tmp_path / "known.yaml")
    wanted = {result.case.id: known.apply_to(result, date.today()).verdict.value for result in results}
    verdicts = recorded(tmp_path)
    assert verdicts.pop("the run") == "pass"
    assert {name: (verdicts.get(name), right) for name, right in wanted.items() if verdicts.get(name) != right} == {}
