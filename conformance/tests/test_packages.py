"""The cases without Python: packages of other languages and an example give the harness's verdicts, case by case.

The adapters that they judge have to be built, as their READMEs say, and what the packages need has to be fetched.
"""

from __future__ import annotations

import fcntl
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from zipfile import ZipFile

import pytest

from tokspec.adapter import Hello, Refusal
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.base.json_values import encode_line
from tokspec.cli.cases import find_limits, write_models
from tokspec.formats.user_model import read_user_model
from tokspec.judge.known_failures import digest, read_known_failures
from tokspec.judge.like import Likeness
from tokspec.judge.runner import make_request, run
from tokspec.judge.sweeping import parts_of
from tokspec.judge.verdicts import Result, Verdict, effective_choices, join_rows, judge
from tokspec.protocol.messages import Answer, Fault, Refused, Reply, write_hello
from tokspec.protocol.spans import convert_result
from tokspec.published.sharing import TOKENIZERS_CHOICES
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite import schema
from tokspec.suite.cases import Case, Suite, write_bundle
from tokspec.suite.fixtures import load_suite
from tokspec.suite.origins import load_origin
from tokspec.suite.packs import cases_of, find_pack
from tokspec.suite.recordings import Header, read_recording, write_recording
from tokspec.suite.specification import load_specification
from tokspec.suite.sweeps import Sweep, blocks_of, digest_of_ids, digest_of_texts, step_for

pytestmark = [pytest.mark.interop, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "packages"
ADAPTERS = ROOT / "conformance" / "adapters"

NODE = "node conformance/adapters/node/adapter.mjs"
KITOKEN = "conformance/adapters/rust/target/release/kitoken"

#: What each framework says of a test, and the verdict that this stands for.
OF_TAP = {"SKIP": "unsupported", "TODO": "known failure"}


@pytest.fixture(scope="module", autouse=True)
def _made(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Make the packages once, even where pytest-xdist runs the tests in several processes."""
    folder = tmp_path_factory.getbasetemp()
    made = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "made"
    with made.open("a+") as locked:
        fcntl.flock(locked, fcntl.LOCK_EX)
        if not made.stat().st_size:
            subprocess.run([sys.executable, PACKAGES / "make.py"], check=True, stdout=subprocess.DEVNULL)
            locked.write("once")


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
    pattern = (
        r"^ *(ok|not ok) \d+ - (.+?)(?: # (SKIP|TODO).*)?\n(?: *---\n((?:.*\n)*?) *\.\.\.\n)?(?:# (?:row \d+: )?(as) )?"
    )
    for state, name, directive, details, like in re.findall(pattern, tap, re.MULTILINE):
        found = re.search(r"error: (?:\|-\n +|['\"])?([a-z ]+):", details)
        passed = "as the origin" if like else "pass"
        verdicts[name] = OF_TAP.get(directive) or (passed if state == "ok" else found[1] if found else details)
    return verdicts


#: Ends the process with status 0, at the point that is asked for, and passes what it is asked until then.
EXITS = """
import {{ register }} from "{package}/index.mjs";
const at = process.env.EXITS_AT;
const exit = (point) => point === at && process.exit(0);
const exitAtOnce = (point) => point === at && process.reallyExit(0);
exit("import");
const adapter = {{
  hello: {{ formats: ["tokspec"], encode_fields: ["tokens"] }},
  load: () => exit("load"),
  operations: {{
    async encode() {{
      exit("case");
      exitAtOnce("case, at once");
      if (at === "timer") setTimeout(() => exit("timer"), 0);
      if (at === "end") process.on("beforeExit", () => exit("end"));
      await new Promise((resolve) => setTimeout(resolve, 1));
      return {{ tokens: at === "end" ? ["wrong"] : [] }};
    }},
  }},
}};
register(adapter, {{ select: (one) => one.id === "encode-empty" }});
exit("registered");
"""

ENDED = "tokspec: the process was ended with status 0 before {}; nothing judged is not a pass"


@pytest.mark.parametrize(
    ("point", "status", "missing"),
    [
        ("never", 0, ""),
        ("import", 1, "register()"),
        ("registered", 1, "all cases were judged"),
        ("load", 1, "all cases were judged"),
        ("case", 1, "all cases were judged"),
        ("case, at once", 1, "all cases were judged"),
        ("timer", 1, "all cases were judged"),
        ("end", 1, "what failed was told"),
    ],
)
def test_node_test_fails_where_the_implementation_ends_the_process(
    tmp_path: Path, point: str, status: int, missing: str
) -> None:
    (tmp_path / "exits.test.mjs").write_text(EXITS.format(package=(PACKAGES / "npm").as_uri()), "utf-8")
    command = ["node", "--test", "--test-reporter=tap", "exits.test.mjs"]
    environment = {**os.environ, "EXITS_AT": point}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    said = {line.removeprefix("# ") for line in done.stdout.splitlines() if line.startswith("# tokspec:")}
    assert (done.returncode, said) == (status, {ENDED.format(missing)} if missing else set())


def test_cargo_test_fails_where_the_implementation_ends_the_process(tmp_path: Path) -> None:
    recording = tmp_path / "recording.json"
    hello = {"operations": ["encode"], "formats": ["tokspec"], "encode_fields": ["tokens"]}
    recording.write_text(json.dumps({"hello": hello, "replies": [{"ok": {"tokens": []}}, {"exits": True}]}), "utf-8")
    command = ["cargo", "run", "--offline", "--quiet", "--example", "recorded"]
    environment = {
        **os.environ,
        "RECORDING": str(recording),
        "CARGO_TARGET_DIR": str(PACKAGES / "crate" / "target"),
    }
    done = subprocess.run(command, cwd=PACKAGES / "crate", env=environment, capture_output=True, text=True)
    assert done.returncode != 0
    said = [line for line in done.stderr.splitlines() if line.startswith("tokspec:")]
    assert said == ["tokspec: the process was ended before all cases were judged; nothing judged is not a pass"]


def test_go_test_fails_where_the_implementation_ends_the_process(tmp_path: Path) -> None:
    recording = tmp_path / "recording.json"
    hello = {"operations": ["encode"], "formats": ["tokspec"], "encode_fields": ["tokens"]}
    replies = [{"ok": {"tokens": []}}, {"exits": True}]
    recording.write_text(json.dumps({"hello": hello, "replies": replies}), "utf-8")
    events = go_events(PACKAGES / "go", "TestRecorded", RECORDING=str(recording))
    assert events[-1]["Action"] == "fail"
    assert "crash" in go_verdicts(events).values()
    assert "panic: unexpected call to os.Exit(0) during test" in "".join(event.get("Output", "") for event in events)


NOTHING = "no case passed, and a run that shows nothing is not a pass"

#: What is judged by a filter that leaves out the last test.
OFFERS_LITTLE: Mapping[str, Any] = {"operations": ["encode", "fly"], "formats": [], "encode_fields": ["tokens"]}


def test_a_filter_does_not_hide_that_nothing_passed_from_node_test(tmp_path: Path) -> None:
    (tmp_path / "little.test.mjs").write_text(
        f'import {{ register }} from "{(PACKAGES / "npm").as_uri()}/index.mjs";\n'
        "register({ hello: { formats: [] }, operations: { encode() {}, fly() {} } });\n",
        "utf-8",
    )
    command = ["node", "--test", "--test-reporter=tap"]

    def run(*options: str) -> tuple[int, str]:
        done = subprocess.run([*command, *options, "little.test.mjs"], cwd=tmp_path, capture_output=True, text=True)
        return done.returncode, done.stdout

    status, said = run("--test-name-pattern=^bpe-toy-encode-bug$")
    assert (status, f"# tokspec: {NOTHING}" in said.splitlines()) == (1, True)
    status, said = run()
    assert (status, f"fly is not an operation\n    {NOTHING}" in said) == (1, True)


def test_a_filter_does_not_hide_that_nothing_passed_from_go_test(tmp_path: Path) -> None:
    recording = tmp_path / "recording.json"
    recording.write_text(json.dumps({"hello": OFFERS_LITTLE, "replies": []}), "utf-8")
    events = go_events(PACKAGES / "go", "TestRecorded$/^bpe-toy-encode-bug", RECORDING=str(recording))
    said = "".join(event.get("Output", "") for event in events)
    assert (events[-1]["Action"], NOTHING in said, "fly is not an operation" in said) == ("fail", True, True)


def test_a_filter_does_not_hide_that_nothing_passed_from_cargo_test(tmp_path: Path) -> None:
    recording = tmp_path / "recording.json"
    recording.write_text(json.dumps({"hello": OFFERS_LITTLE, "replies": []}), "utf-8")
    command = ["cargo", "run", "--offline", "--quiet", "--example", "recorded", "--"]
    environment = {**os.environ, "RECORDING": str(recording), "CARGO_TARGET_DIR": str(PACKAGES / "crate" / "target")}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *words], cwd=PACKAGES / "crate", env=environment, capture_output=True, text=True
        )

    done = run("--exact", "bpe-toy-encode-bug")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (101, f"tokspec: {NOTHING}")
    done = run()
    assert (done.returncode, f"fly is not an operation\n{NOTHING}" in done.stdout) == (101, True)


def test_who_reads_the_bundle_alone_may_end_the_process(tmp_path: Path) -> None:
    (tmp_path / "read.mjs").write_text(
        f'import {{ bundle }} from "{(PACKAGES / "npm").as_uri()}/index.mjs";\nprocess.exit(bundle.cases.length ? 0 : 1);\n'
    )
    assert subprocess.run(["node", "read.mjs"], cwd=tmp_path).returncode == 0


def cargo(*arguments: str, package: Path = PACKAGES / "crate", **environment: str) -> dict[str, str]:
    """Run a test of the crate and return the verdict of every case."""
    command = ["cargo", *arguments, "--", "--format=pretty"]
    settings = {**os.environ, "CARGO_TARGET_DIR": str(PACKAGES / "crate" / "target"), **environment}
    done = subprocess.run(command, cwd=package, capture_output=True, text=True, env=settings)
    failed = dict(re.findall(r"^---- (\S+) ----\n([a-z ]+):", done.stdout, re.MULTILINE))
    pattern = r"^test (?:\[(as) .+?\])? *(.+?) +\.\.\. (ok|FAILED|ignored)(?: \(([a-z ]+):.*)?$"
    lines = re.findall(pattern, done.stdout, re.MULTILINE)
    states = {"ok": lambda name: "pass", "FAILED": lambda name: failed.get(name, "?")}
    return {name: "as the origin" if like else said or states[state](name) for like, name, state, said in lines}


def go_events(package: Path, test: str, **environment: str) -> list[dict[str, Any]]:
    """Run a test of a package of Go and return what happened."""
    command = ["go", "test", "-json", "-count=1", "-run", f"^{test}$", "."]
    done = subprocess.run(command, cwd=package, capture_output=True, text=True, env={**os.environ, **environment})
    return [json.loads(line) for line in done.stdout.split("\n")[:-1]]


def go_verdicts(events: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the verdict of every case."""
    verdicts: dict[str, str] = {}
    for event in events:
        name = event.get("Test", "").partition("/")[2].replace("the_run", "the run")
        said = re.match(r" +\w+\.go:\d+: (?:(?:row \d+: )?(as) \w+ [\d.]+|([a-z ]+)):", event.get("Output", ""))
        if name and said:
            verdicts[name] = "as the origin" if said[1] else said[2]
        elif name and event["Action"] in ("pass", "fail", "skip"):
            verdicts.setdefault(name, event["Action"])
    return verdicts


def test_what_is_published_has_the_cases_and_no_tests() -> None:
    packed = subprocess.run(
        ["npm", "pack", "--dry-run", "--json"], cwd=PACKAGES / "npm", capture_output=True, text=True
    )
    files = [file["path"] for file in json.loads(packed.stdout)[0]["files"]]
    own = [file for file in files if not file.startswith("packs/")]
    modules = [f"{name}.mjs" for name in ("compare", "index", "known", "like", "packs", "sweep")]
    assert sorted(own) == sorted(["README.md", "cases.json", "package.json", *modules])
    listed = ["cargo", "package", "--list", "--allow-dirty", "--offline"]
    files = subprocess.run(listed, cwd=PACKAGES / "crate", capture_output=True, text=True).stdout.split()
    assert {"Cargo.toml", "README.md", "cases.json", "src/lib.rs", "packs/llama-3.1.pack.jsonl"} <= {*files}
    assert [file for file in files if file.startswith(("tests/", "examples/", "target/"))] == []
    subprocess.run(["mvn", "-q", "-B", "-o", "-DskipTests", "package"], cwd=PACKAGES / "jvm", check=True)
    (jar,) = (PACKAGES / "jvm" / "target").glob("tokspec-cases-*.jar")
    files = [name for name in ZipFile(jar).namelist() if not name.endswith("/")]
    assert {"tokspec/Tokspec.class", "tokspec/cases.json", "tokspec/packs/llama-3.1.pack.jsonl"} <= {*files}
    assert [file for file in files if not file.startswith(("tokspec/", "META-INF/"))] == []


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


@pytest.mark.parametrize("known", ["go/pkoukk/known-failures.yaml", ""])
def test_go_test_gives_the_verdicts_of_the_harness(known: str, tmp_path: Path) -> None:
    program = ADAPTERS / "go" / "bin" / "pkoukk"
    files = {"KNOWN_FAILURES": str(ADAPTERS / known)} if known else {}
    verdicts = go_verdicts(go_events(PACKAGES / "go", "TestProgram", PROGRAM=str(program), **files))
    assert verdicts.pop("the run") == "pass"
    assert verdicts == harness(shlex.quote(str(program)), known, tmp_path)


def junit_report(test: str, package: Path = PACKAGES / "jvm", **environment: str) -> Element:
    """Run a class of tests of the artifact and return its report, which another process would overwrite meanwhile."""
    report = package / "target" / "surefire-reports" / f"TEST-{test}.xml"
    command = ["mvn", "-q", "-B", "-o", f"-Dtest={test}", "test"]
    settings = {**os.environ, **environment}
    with (package / "pom.xml").open() as locked:
        fcntl.flock(locked, fcntl.LOCK_EX)
        report.unlink(missing_ok=True)
        subprocess.run(command, cwd=package, env=settings, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return ElementTree.parse(report).getroot()


def junit(test: str, package: Path = PACKAGES / "jvm", **environment: str) -> dict[str, str]:
    """Run a class of tests of the artifact and return the verdict of every case."""
    verdicts: dict[str, str] = {}
    for case in junit_report(test, package, **environment).iter("testcase"):
        states = ["".join(child.itertext()) for child in case if child.tag in ("skipped", "failure", "error")]
        said = re.match(r"[\w.]+:\s+([a-z ]+): ", states[0]) if states else None
        like = re.match(r"(row \d+: )?as ", case.findtext("system-out", ""))
        passed = "as the origin" if like else "pass"
        verdicts[case.get("name", "").partition("() ")[2]] = said[1] if said else "?" if states else passed
    return verdicts


def test_junit_gives_the_verdicts_of_the_harness(tmp_path: Path) -> None:
    verdicts = junit("OpenNlpTest")
    assert verdicts.pop("the run") == "pass"
    command = f"java -cp {shlex.quote(str(ADAPTERS / 'java/target/adapters.jar'))} OpenNlp"
    assert verdicts == harness(command, "java/opennlp/known-failures.yaml", tmp_path)


@pytest.mark.parametrize("processes", [0, 1])
def test_junit_fails_where_the_implementation_ends_the_process(tmp_path: Path, processes: int) -> None:
    """In a process of its own, as Maven runs tests, or in that of the runner, which an exit ends with status 0."""
    recording = tmp_path / "recording.json"
    hello = {"operations": ["encode"], "formats": ["tokspec"], "encode_fields": ["tokens"]}
    recording.write_text(json.dumps({"hello": hello, "replies": [{"ok": {"tokens": []}}, {"exits": True}]}), "utf-8")
    command = ["mvn", "-q", "-B", "-o", f"-DforkCount={processes}", "-Dtest=Recorded", "test"]
    environment = {**os.environ, "RECORDING": str(recording)}
    done = subprocess.run(command, cwd=PACKAGES / "jvm", env=environment, capture_output=True, text=True)
    said = "tokspec: the process was ended before all cases were judged; nothing judged is not a pass\n"
    assert (done.returncode, said in done.stderr) == (1, True)


#: An implementation that offers everything, and whose answers are recorded.
HELLO = Hello(
    "recorded",
    "1",
    "none",
    operations=tuple(schema.operations()),
    choices={"offset_unit": "utf16", "bpe_merge_order": "lowest_rank"},
    encode_fields=("tokens", "ids", "spans", "type_ids", "sequence_ids"),
    encode_options=("pair", "add_special_tokens", "allowed_special", "disallowed_special", "initial_score"),
    decode_options=("skip_special_tokens", "id_steps", "prompt", "end", "beside", "stop_ids", "keep_stop"),
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
    """List all that is unsupported, and some cases: most as they fail, some otherwise, past their date, or passing."""
    lines = ["known_failures:"]
    for result in results:
        has_surrogate = b'"hex"' in encode_line(
            {"replies": [record(each.reply) for each in (result, *result.rows) if each.reply]}
        )  # the packages' digest is another
        if result.verdict is Verdict.UNSUPPORTED or has_surrogate or chance.random() < 0.5:
            continue
        listed = Verdict.FAIL if result.verdict in (Verdict.PASS, Verdict.AS_ORIGIN) else result.verdict
        seen = digest(result) if chance.random() < 0.8 else "0123456789abcdef"
        entry = {"verdict": listed.value, "digest": seen, "reason": 'A \\"test\\", verdict: it is.'}
        if chance.random() < 0.4:
            entry["expires"] = chance.choice(["2020-02-29", "2999-12-31", date.today().isoformat()])
        pairs = [f'{key}: "{value}"' for key, value in ({"case": result.case.id} | entry).items()]
        lines.append(f"  - {{{', '.join(pairs)}}}" if chance.random() < 0.2 else "  - " + "\n    ".join(pairs))
    listed = [result for result in results if result.verdict is Verdict.UNSUPPORTED]
    passing = [result for result in results if result.verdict is Verdict.PASS and chance.random() < 0.1]
    known = {line.split('"')[1] for line in lines if line.startswith(("  - case:", "  - {case:"))}
    cases = [result.case.id for result in (*listed, *passing) if result.case.id not in known]
    lines[0] += "" if known else " []"
    lines += ["unsupported:", *(f'  - "{case}"' for case in cases)] if cases else []
    file.write_text("\n".join(lines) + "\n", "utf-8")


NODE_RECORDED = """
import {{ readFileSync }} from "node:fs";
import {{ isDeepStrictEqual }} from "node:util";
import {{ register }} from "{index}";
const {{ hello, replies, pack, model = "tokenizer.json" }} = JSON.parse(readFileSync("recording.json", "utf8"));
const next = (_, input) => {{
  const reply = replies.shift();
  const error = new Error(reply.message ?? "as recorded");
  if (reply.asked && !isDeepStrictEqual(input, reply.asked)) throw new Error(`was asked ${{JSON.stringify(input)}}`);
  if (reply.refused) throw Object.assign(error, {{ reason: reply.refused }});
  if (reply.crashed) throw error;
  return reply.ok;
}};
const operations = Object.fromEntries(hello.operations.map((name) => [name, next]));
register({{ hello, load: () => null, operations }}, {{ knownFailures: "known.yaml", pack, model }});
"""


def node_recorded(folder: Path, packages: Path = PACKAGES) -> dict[str, str]:
    test = folder / "recorded.test.mjs"
    test.write_text(NODE_RECORDED.format(index=(packages / "npm" / "index.mjs").as_uri()), "utf-8")
    return node_test(test)


def settings_of(folder: Path) -> dict[str, str]:
    """Return where what judges finds a recording, and the pack with its model, if it is of one."""
    recording = json.loads((folder / "recording.json").read_text("utf-8"))
    named = {name.upper(): recording[name] for name in ("pack", "model") if name in recording}
    return {"RECORDING": str(folder / "recording.json"), "KNOWN_FAILURES": str(folder / "known.yaml"), **named}


def cargo_recorded(folder: Path, packages: Path = PACKAGES) -> dict[str, str]:
    files = {"MODEL": str(folder / "tokenizer.json"), **settings_of(folder)}
    return cargo("run", "--quiet", "--offline", "--example", "recorded", package=packages / "crate", **files)


def go_recorded(folder: Path, packages: Path = PACKAGES) -> dict[str, str]:
    return go_verdicts(go_events(packages / "go", "TestRecorded", **settings_of(folder)))


def junit_recorded(folder: Path, packages: Path = PACKAGES) -> dict[str, str]:
    files = {"RECORDING": str(folder / "recording.json"), "KNOWN_FAILURES": str(folder / "known.yaml")}
    return junit("Recorded", packages / "jvm", **files)


#: What judges the replies of recording.json against known.yaml, of a folder.
RECORDED = (node_recorded, cargo_recorded, go_recorded, junit_recorded)


def judge_all(replies: Sequence[Reply], hello: Hello = HELLO) -> list[Result]:
    """Return the result of each case, as the harness judges the replies to all questions."""
    likeness = Likeness(load_origin(hello.like)) if hello.like else None
    choices = effective_choices(hello, origin=likeness.origin if likeness else None)

    def judge_one(case: Case, reply: Reply) -> Result:
        result = judge(case, reply, hello, choices)
        return likeness.apply_to(result, reply, hello, choices["offset_unit"]) if likeness else result

    judged = iter([judge_one(case, reply) for case, reply in zip(questions(), replies, strict=True)])
    return [
        join_rows(case, [*islice(judged, len(case.rows))]) if case.rows else next(judged)
        for case in load_suite().cases.values()
    ]


@pytest.mark.parametrize("recorded", RECORDED)
@pytest.mark.parametrize("seed", range(3))
def test_recorded_replies_get_the_verdicts_of_the_harness(
    seed: int, recorded: Callable[[Path], dict[str, str]], tmp_path: Path
) -> None:
    chance = random.Random(seed)
    pairs = zip(questions(), right_replies(), strict=True)
    replies = [disturb(reply, case.operation, chance) if seed else reply for case, reply in pairs]
    if recorded is node_recorded:
        replies = [Answer(change(each.result, integer, same)) if isinstance(each, Answer) else each for each in replies]
    results = judge_all(replies)
    recording = {"hello": write_hello(HELLO), "replies": [record(reply) for reply in replies]}
    (tmp_path / "recording.json").write_bytes(encode_line(recording))
    write_known_failures(results if seed else [], chance, tmp_path / "known.yaml")
    known = read_known_failures(tmp_path / "known.yaml")
    wanted = {result.case.id: known.apply_to(result, date.today()).verdict.value for result in results}
    verdicts = recorded(tmp_path)
    assert verdicts.pop("the run") == "pass"
    assert {name: (verdicts.get(name), right) for name, right in wanted.items() if verdicts.get(name) != right} == {}


@pytest.mark.parametrize("recorded", RECORDED)
@pytest.mark.parametrize(
    "listed",
    [
        'known_failures:\n  - case: "no-such-case"\n    verdict: "fail"\n    digest: "0"\n    reason: "?"\n',
        'known_failures: []\nunsupported:\n  - "no-such-case"\n',
        "known_failures: []\nunsupported: []\n",
    ],
)
def test_a_list_that_is_not_true_fails_the_run(
    listed: str, recorded: Callable[[Path], dict[str, str]], tmp_path: Path
) -> None:
    replies = [*right_replies()]
    replies[0] = Refused("unsupported", "as recorded")
    recording = {"hello": write_hello(HELLO), "replies": [record(reply) for reply in replies]}
    (tmp_path / "recording.json").write_bytes(encode_line(recording))
    (tmp_path / "known.yaml").write_text(listed, "utf-8")
    verdicts = recorded(tmp_path)
    assert verdicts.pop("the run") not in ("pass", "unsupported", "known failure")
    assert {"pass", "unsupported"} < set(verdicts.values()) <= {"pass", "unsupported", "fail"}


@pytest.mark.parametrize("recorded", RECORDED)
def test_pieces_without_spans_and_faults_are_taken_as_in_the_harness(
    recorded: Callable[[Path], dict[str, str]], tmp_path: Path
) -> None:
    replies = [
        Answer({"pieces": [piece[:1] for piece in reply.result["pieces"]]})
        if case.operation == "pre_tokenize" and isinstance(reply, Answer)
        else reply
        for case, reply in zip(questions(), right_replies(), strict=True)
    ]
    recording = {"hello": write_hello(HELLO), "replies": [record(reply) for reply in replies]}
    (tmp_path / "recording.json").write_bytes(encode_line(recording))
    (tmp_path / "known.yaml").write_text('faults:\n  - "It hangs: sometimes."\nknown_failures: []\n', "utf-8")
    verdicts = recorded(tmp_path)
    assert verdicts.pop("the run") == "pass"
    assert verdicts == {result.case.id: result.verdict.value for result in judge_all(replies)}


#: Moves the cursor, turns the text around, and would be a command of GitHub Actions on a line of its own.
EVIL = "\x1b]0;pwn\x07\x1b[31mRED\r\n::error::pwn \u202e"


def node_said(folder: Path) -> str:
    test = folder / "recorded.test.mjs"
    test.write_text(NODE_RECORDED.format(index=(PACKAGES / "npm" / "index.mjs").as_uri()), "utf-8")
    command = ["node", "--test", "--test-reporter=spec", test.name]
    return subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8").stdout


def run_recorded_by_cargo(folder: Path) -> subprocess.CompletedProcess[str]:
    command = ["cargo", "run", "--quiet", "--offline", "--example", "recorded"]
    settings = {**os.environ, **settings_of(folder), "CARGO_TARGET_DIR": str(PACKAGES / "crate" / "target")}
    return subprocess.run(command, cwd=PACKAGES / "crate", env=settings, capture_output=True, encoding="utf-8")


def cargo_said(folder: Path) -> str:
    return run_recorded_by_cargo(folder).stdout


def cargo_said_and_noted(folder: Path) -> str:
    done = run_recorded_by_cargo(folder)
    return done.stdout + done.stderr


def go_said(folder: Path) -> str:
    events = go_events(PACKAGES / "go", "TestRecorded", **settings_of(folder))
    return "".join(event.get("Output", "") for event in events)


def junit_said(folder: Path) -> str:
    files = {"RECORDING": str(folder / "recording.json"), "KNOWN_FAILURES": str(folder / "known.yaml")}
    return "".join(junit_report("Recorded", **files).itertext())


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (node_said, r"\u{1b}]0;pwn\u{7}\u{1b}[31mRED\u{d} | ::error::pwn \u{202e} | at "),
        (cargo_said, r"\u{1b}]0;pwn\u{7}\u{1b}[31mRED\r\n::error::pwn \u{202e}"),
        (go_said, r"\u001b]0;pwn\u0007\u001b[31mRED\u000d\u000a::error::pwn \u202e"),
        (junit_said, r"\u001b]0;pwn\u0007\u001b[31mRED\u000d\u000a::error::pwn \u202e | at "),
    ],
)
def test_what_an_implementation_says_is_shown_on_one_line_without_control_characters(
    said: Callable[[Path], str], shown: str, tmp_path: Path
) -> None:
    hello = {"operations": ["encode"], "formats": ["tokspec"], "encode_fields": ["tokens"]}
    replies = [{"crashed": True, "message": EVIL}, {"refused": "unsupported", "message": EVIL}] * 5000
    (tmp_path / "recording.json").write_text(json.dumps({"hello": hello, "replies": replies}), "utf-8")
    (tmp_path / "known.yaml").write_text("known_failures: []\n", "utf-8")
    text = said(tmp_path)
    assert f"crash: {shown}" in text or f"crash: Error: {shown}" in text or f"IllegalStateException: {shown}" in text
    assert [line for line in text.splitlines() if line.strip().startswith("::error")] == []
    assert not re.search("\x1b\\]|\x1b\\[31mRED|\u202e", text)


def like_origin(case: Case, right: Reply, hello: Hello) -> Reply:
    """Return the origin's reply to a question, with spans in the unit of an implementation; the right one if it is it."""
    known = load_origin(hello.like).answers.get(case.id)
    if known is None:
        return right
    if "fault" in known.answer:
        return Fault("crash", "as recorded")
    if "refused" in known.answer:
        return Refused(known.answer["refused"], "as recorded")
    result = judge(case, right, hello, effective_choices(hello, {"offset_unit": "code_point"})).expected.get(
        "expect", {}
    )
    result = {**result, **known.answer["result"]}
    if case.operation == "encode":  # the harness checks the shape of all fields, the packages that of declared ones
        result = {name: value for name, value in result.items() if name in (*hello.encode_fields, "overflowing")}
    return Answer(convert_result(result, case.input, hello.choices["offset_unit"]))


@pytest.mark.parametrize("recorded", RECORDED)
@pytest.mark.parametrize("origin", ["tokenizers", "sentencepiece", "tiktoken"])
def test_answers_of_an_origin_get_the_verdicts_of_the_harness(
    origin: str, recorded: Callable[[Path], dict[str, str]], tmp_path: Path
) -> None:
    """Half of them, as the origin gives them, as wrong as by chance, or refused; the others are right."""
    chance = random.Random(origin)
    hello = replace(HELLO, like=origin, choices={"offset_unit": "utf16"}, encode_fields=("tokens", "ids", "spans"))
    replies: list[Reply] = []
    for case, right in zip(questions(), right_replies(), strict=True):
        reply = like_origin(case, right, hello)
        kind = chance.randrange(8) if reply is not right else 0
        if kind > 4:
            reply = right
        elif kind == 4:
            reply = Refused("invalid_input", "as recorded")
        elif kind == 3:
            reply = disturb(reply, case.operation, chance)
        replies.append(reply)
    if recorded is node_recorded:
        replies = [Answer(change(each.result, integer, same)) if isinstance(each, Answer) else each for each in replies]
    results = judge_all(replies, hello)
    recording = {"hello": write_hello(hello), "replies": [record(reply) for reply in replies]}
    (tmp_path / "recording.json").write_bytes(encode_line(recording))
    write_known_failures(results, chance, tmp_path / "known.yaml")
    known = read_known_failures(tmp_path / "known.yaml")
    wanted = {result.case.id: known.apply_to(result, date.today()).verdict.value for result in results}
    verdicts = recorded(tmp_path)
    assert verdicts.pop("the run") == "pass"
    assert {name: (verdicts.get(name), right) for name, right in wanted.items() if verdicts.get(name) != right} == {}
    assert {"as the origin", "unexpected pass", "fail", "pass"} < {*wanted.values()}


#: An origin's answer, an answer that is neither right nor its, and a refusal where it crashes.
OF_ORIGIN: Mapping[str, Reply] = {
    "added-token-in-a-hole": Answer({"ids": [0, 2, 2]}),
    "added-token-in-a-hole-wordpiece": Answer({"ids": [0, 2, 1]}),
    "strip-more-than-there-is#1": Refused("invalid_model", "as recorded"),
}


@pytest.mark.parametrize(
    ("said", "count"),
    [
        (node_said, "ℹ 5 as tokenizers 0.23.3\n"),
        (cargo_said_and_noted, "tokspec: 5 as tokenizers 0.23.3\n"),
        (go_said, " cases pass, 5 of them as tokenizers 0.23.3, "),
        (junit_said, "tokspec: 5 as tokenizers 0.23.3\n"),
    ],
)
@pytest.mark.parametrize("listed", ['reason: "as it is"', 'like: "tokenizers"'])
def test_answers_of_an_origin_are_counted(said: Callable[[Path], str], count: str, listed: str, tmp_path: Path) -> None:
    hello = replace(HELLO, like="tokenizers", choices={}, encode_fields=("ids",))
    replies = [OF_ORIGIN.get(case.id, right) for case, right in zip(questions(), right_replies(), strict=True)]
    recording = {"hello": write_hello(hello), "replies": [record(reply) for reply in replies]}
    (tmp_path / "recording.json").write_bytes(encode_line(recording))
    wrong = next(each for each in judge_all(replies, hello) if each.case.id == "added-token-in-a-hole-wordpiece")
    assert wrong.verdict is Verdict.FAIL
    entry = f'  - case: "{wrong.case.id}"\n    verdict: "fail"\n    digest: "{digest(wrong)}"\n    {listed}\n'
    (tmp_path / "known.yaml").write_text(f"known_failures:\n{entry}", "utf-8")
    text = said(tmp_path)
    reason = load_origin("tokenizers").answers[wrong.case.id].reason if "like" in listed else "as it is"
    assert (count in text, text.count(reason) > 0) == (True, True)


@pytest.mark.parametrize("said", [node_said, cargo_said_and_noted, go_said, junit_said])
def test_an_origin_that_is_not_there_is_refused(said: Callable[[Path], str], tmp_path: Path) -> None:
    recording = {"hello": write_hello(replace(HELLO, like="tokenisers")), "replies": []}
    (tmp_path / "recording.json").write_bytes(encode_line(recording))
    (tmp_path / "known.yaml").write_text("known_failures: []\n", "utf-8")
    what = "like: tokenisers is not an origin; there are sentencepiece, tiktoken, tokenizers"
    assert what in said(tmp_path)


#: What the suite's cases do not show: pairs and overflowing parts beyond ASCII, batches, and tolerances.
CASES = """
about: "Cases for a test."
source: [{rule: "a test"}]
model: {type: "bpe", vocabulary: ["b"]}
cases:
  - {id: pair, clauses: [BPE-ENC-1], why: "It is needed for a test.", operation: encode, verified_by: ["hand: a test"],
     input: {text: "🙂é", pair: "é🙂b"},
     expect: {ids: [0, 0], spans: [[1, 2], [2, 3]], sequence_ids: [0, 1],
              overflowing: [{ids: [0], spans: [[1, 2]], sequence_ids: [1]}]}}
  - {id: batch, clauses: [BPE-ENC-1], why: "It is needed for a test.", operation: encode_batch, verified_by: ["hand: a test"],
     input: {inputs: [{text: "🙂b"}, {text: "b"}]},
     expect: {encodings: [{ids: [0], spans: [[1, 2]]}, {ids: [0], spans: [[0, 1]]}]}}
  - {id: real, clauses: [TERM-5], why: "It is needed for a test.", operation: segment, verified_by: ["hand: a test"],
     model: {type: "unigram", tokens: [["b", 1]]}, input: {word: "b"}, expect: {tokens: ["b"], score: 0.25}}
  - {id: zero, clauses: [TERM-5], why: "It is needed for a test.", operation: segment, verified_by: ["hand: a test"],
     model: {type: "unigram", tokens: [["b", 1]]}, input: {word: "b"}, expect: {tokens: ["b"], score: 0.0}}
  - {id: wide, clauses: [TERM-5], why: "It is needed for a test.", operation: segment, verified_by: ["hand: a test"],
     model: {type: "unigram", tokens: [["b", 1]]}, tolerance: {absolute: 0.1}, input: {word: "b"},
     expect: {tokens: ["b"], score: 0.25}}
  - {id: narrow, clauses: [TERM-5], why: "It is needed for a test.", operation: segment, verified_by: ["hand: a test"],
     model: {type: "unigram", tokens: [["b", 1]]}, tolerance: {relative: 0.000000000001}, input: {word: "b"},
     expect: {tokens: ["b"], score: 0.25}}
"""


def right_pair(unit: str) -> dict[str, Any]:
    spans = {"utf16": ([[2, 3], [3, 4]], [[1, 3]]), "byte": ([[4, 6], [6, 7]], [[2, 6]])}[unit]
    part = {"ids": [0], "spans": spans[1], "sequence_ids": [1]}
    return {"ids": [0, 0], "spans": spans[0], "sequence_ids": [0, 1], "overflowing": [part]}


#: Answers to these cases, and whether they are right.
ANSWERS: Sequence[tuple[str, str, Any, bool]] = [
    ("pair", "utf16", right_pair("utf16"), True),
    ("pair", "byte", right_pair("byte"), True),
    ("pair", "utf16", right_pair("byte"), False),
    ("pair", "utf16", right_pair("utf16") | {"overflowing": right_pair("byte")["overflowing"]}, False),
    ("pair", "utf16", right_pair("utf16") | {"overflowing": []}, False),
    ("batch", "utf16", {"encodings": [{"ids": [0], "spans": [[2, 3]]}, {"ids": [0], "spans": [[0, 1]]}]}, True),
    ("batch", "byte", {"encodings": [{"ids": [0], "spans": [[4, 5]]}, {"ids": [0], "spans": [[0, 1]]}]}, True),
    ("batch", "byte", {"encodings": [{"ids": [0], "spans": [[2, 3]]}, {"ids": [0], "spans": [[0, 1]]}]}, False),
    ("batch", "byte", {"encodings": [{"ids": [0]}, {"ids": [0], "spans": [[0, 1]]}]}, True),
    ("batch", "byte", {"encodings": [{"ids": [0]}]}, False),
    ("real", "byte", {"tokens": ["b"], "score": 0.25 + 9e-10}, True),
    ("real", "byte", {"tokens": ["b"], "score": 0.25 + 2e-9}, False),
    ("zero", "byte", {"tokens": ["b"], "score": 9e-10}, True),
    ("zero", "byte", {"tokens": ["b"], "score": 2e-9}, False),
    ("wide", "byte", {"tokens": ["b"], "score": 0.3}, True),
    ("wide", "byte", {"tokens": ["b"], "score": 0.36}, False),
    ("narrow", "byte", {"tokens": ["b"], "score": 0.25 + 2e-13}, True),
    ("narrow", "byte", {"tokens": ["b"], "score": 0.25 + 2e-12}, False),
]


@pytest.fixture(scope="module")
def other_packages(tmp_path_factory: pytest.TempPathFactory) -> tuple[Suite, Path]:
    """Copy the packages, with other cases: one for each answer."""
    folder = tmp_path_factory.mktemp("packages")
    (folder / "fixtures").mkdir()
    (folder / "fixtures" / "cases.yaml").write_text(CASES, "utf-8")
    cases = load_suite(folder / "fixtures").cases
    numbered = [(f"{case}-{number}", cases[case]) for number, (case, *_) in enumerate(ANSWERS)]
    suite = Suite({id: replace(case, id=id) for id, case in numbered})
    copy_packages(folder, suite, "tokspec")
    return suite, folder


def copy_packages(folder: Path, suite: Suite, format: str) -> None:
    """Copy the packages, with other cases and their models in a format."""
    models = {format: write_models(suite, format)}
    unused = shutil.ignore_patterns("cases.json", "target")
    for name in ("npm", "crate", "go", "jvm"):
        shutil.copytree(PACKAGES / name, folder / name, ignore=unused)
        file = folder / name / "cases.json"
        write_bundle(file, suite, load_specification(), models, find_limits(suite, models))
    manifest = (folder / "crate" / "Cargo.toml").read_text("utf-8")
    (folder / "crate" / "Cargo.toml").write_text(manifest.replace('"../..', f'"{ROOT}'), "utf-8")


@pytest.mark.parametrize("recorded", RECORDED)
@pytest.mark.parametrize("unit", ["utf16", "byte"])
@pytest.mark.parametrize("fields", [("ids", "spans", "sequence_ids", "overflowing"), ("spans",)])
def test_spans_of_pairs_and_tolerances_are_judged_as_in_the_harness(
    fields: tuple[str, ...],
    unit: str,
    recorded: Callable[[Path, Path], dict[str, str]],
    other_packages: tuple[Suite, Path],
    tmp_path: Path,
) -> None:
    suite, folder = other_packages
    hello = replace(HELLO, choices={"offset_unit": unit}, encode_fields=fields)
    refused = Refused("unsupported", "another unit")
    replies = [Answer(answer) if each == unit else refused for _, each, answer, _ in ANSWERS]
    recording = {"hello": write_hello(hello), "replies": [record(reply) for reply in replies]}
    (tmp_path / "recording.json").write_bytes(encode_line(recording))
    (tmp_path / "known.yaml").write_text("known_failures: []\n", "utf-8")
    choices = effective_choices(hello)
    pairs = zip(suite.cases.values(), replies, strict=True)
    harness = {case.id: judge(case, reply, hello, choices).verdict.value for case, reply in pairs}
    stated = {
        f"{case}-{number}": ("pass" if is_right else "fail") if each == unit else "unsupported"
        for number, (case, each, _, is_right) in enumerate(ANSWERS)
    }
    verdicts = recorded(tmp_path, folder)
    assert verdicts.pop("the run") == "pass"
    assert verdicts == harness
    assert harness == stated or fields == ("spans",)


#: Cases of a model without an unknown token, which a file of SentencePiece has.
LIMITED = """
about: "Cases for a test."
source: [{rule: "a test"}]
model: {type: "bpe", vocabulary: ["b"]}
cases:
  - {id: known, clauses: [BPE-ENC-1], why: "It is needed for a test.", operation: encode, verified_by: ["hand: a test"],
     input: {text: "b"}, expect: {ids: [0]}}
  - {id: unknown, clauses: [BPE-ENC-1], why: "It is needed for a test.", operation: encode, verified_by: ["hand: a test"],
     input: {text: "bx"}, error: unknown_symbol}
  - {id: table, clauses: [BPE-ENC-1], why: "It is needed for a test.", operation: encode, verified_by: ["hand: a test"],
     inputs: [{text: "b", expect: {ids: [0]}}, {text: "x", error: unknown_symbol}, {text: "bb", expect: {ids: [0, 0]}}]}
"""


@pytest.fixture(scope="module")
def limited_packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the packages, with cases that the format of their model limits."""
    folder = tmp_path_factory.mktemp("limited")
    (folder / "fixtures").mkdir()
    (folder / "fixtures" / "cases.yaml").write_text(LIMITED, "utf-8")
    copy_packages(folder, load_suite(folder / "fixtures"), "sentencepiece.model")
    return folder


@pytest.mark.parametrize("recorded", RECORDED)
def test_what_a_format_cannot_say_of_an_input_is_not_asked(
    recorded: Callable[[Path, Path], dict[str, str]], limited_packages: Path, tmp_path: Path
) -> None:
    hello = replace(HELLO, formats=("sentencepiece.model",))
    replies = [{"ok": {"ids": ids}} for ids in ([0], [0], [0, 0])]
    (tmp_path / "recording.json").write_bytes(encode_line({"hello": write_hello(hello), "replies": replies}))
    (tmp_path / "known.yaml").write_text("known_failures: []\n", "utf-8")
    assert recorded(tmp_path, limited_packages) == {
        "known": "pass",
        "unknown": "unsupported",
        "table": "unsupported",
        "the run": "pass",
    }


PACK_LINES: tuple[dict[str, Any], ...] = (
    {"text": "hugs", "ids": [1, 2, 3], "decoded": "hugs[SEP]", "why": "a word"},
    {"text": "hug", "add_special_tokens": True, "ids": [1, 3], "decoded": "hug[SEP]"},
    {"text": "hug 🙂", "add_special_tokens": False, "ids": [1, 0], "decoded": None},
    {"text": {"hex": "eda080"}, "add_special_tokens": False, "ids": [0]},
    {"text": "", "add_special_tokens": False, "ids": []},
    {"text": "hug", "pair": "s", "ids": [1, 2], "type_ids": [0, 1], "decoded": "hugs"},
    {"text": "hug", "allowed_special": [], "ids": [1]},
)


#: Lines that become no cases: a text without ids, and one with a token that has no id.
NO_CASES: tuple[dict[str, Any], ...] = (
    {"from": "texts/words:bug", "text": "bug", "refused": {"encode": "unknown_symbol"}},
    {"from": "texts/words:rug", "text": "rug", "tokens": ["r", "ug"], "ids": [None, 1]},
)


def write_toy_pack(file: Path, *, is_old: bool) -> None:
    """Write a pack of the form of tokspec 0.2, or a recording."""
    if is_old:
        header = {"tokspec_pack": 1, "name": "toy", "files": {"tokenizer.json": "0" * 64}, "suite": "0.2.0"}
        header["agreed"] = [{"name": name, "version": "1", "lines": len(PACK_LINES)} for name in ("one", "another")]
        file.write_text("".join(f"{json.dumps(line)}\n" for line in (header, *PACK_LINES * 8)), "utf-8")
        return
    model = {"file": "tokenizer.json", "format": "tokenizer.json", "sha256": "0" * 64}
    who = {"name": "one", "version": "1", "language": ""}
    write_recording(file, Header("0.3.0", who, {}, model, "not added", (), {}), (*NO_CASES, *PACK_LINES * 8))


PACK_HELLO = replace(HELLO, operations=("encode", "decode"), formats=("tokenizer.json",))


class Replying:
    """Answers what a pack expects, disturbed by chance, and keeps what it answered in the order of what was asked."""

    def __init__(self, suite: Suite, options: Sequence[str], seed: int) -> None:
        self.options, self.chance, self.replies = tuple(options), random.Random(seed), list[Reply]()
        self.cases = list(suite.cases.values())
        self.is_disturbed = seed > 0

    def hello(self) -> Hello:
        return replace(PACK_HELLO, encode_fields=("ids", "type_ids"), encode_options=self.options)

    def load(self, format: str, content: Any) -> str:
        assert format == "tokenizer.json"
        return "a model"

    def run(self, operation: str, model: str, input: Mapping[str, Any]) -> Mapping[str, Any]:
        asked = dict(input)
        while (case := self.cases.pop(0)).operation != operation or not self.is_of(case, asked):
            pass
        reply: Reply = Answer(case.outcome["expect"])
        if self.is_disturbed:
            reply = disturb(reply, operation, self.chance)
        self.replies.append(reply)
        if isinstance(reply, Refused):
            raise Refusal(reply.reason, reply.message)
        if isinstance(reply, Fault):
            raise RuntimeError(reply.message)
        assert isinstance(reply, Answer)
        return reply.result

    def is_of(self, case: Case, asked: Mapping[str, Any]) -> bool:
        lacks = "add_special_tokens" not in self.options and case.input.get("add_special_tokens") is False
        return asked == {key: value for key, value in case.input.items() if not (lacks and key == "add_special_tokens")}


@pytest.mark.parametrize("recorded", RECORDED)
@pytest.mark.parametrize(
    ("seed", "options", "has_file"),
    [
        (0, HELLO.encode_options, True),
        (1, HELLO.encode_options, False),
        (2, (), True),
        (3, ("pair", "allowed_special"), True),
    ],
)
def test_packs_get_the_verdicts_of_the_harness(
    seed: int,
    options: Sequence[str],
    has_file: bool,
    recorded: Callable[[Path], dict[str, str]],
    tmp_path: Path,
) -> None:
    (tmp_path / "tokenizer.json").write_text('{"model": {"type": "WordPiece", "vocab": {"hug": 1}}}', "utf-8")
    write_toy_pack(tmp_path / "toy.pack.jsonl", is_old=seed == 3)
    pack = read_recording(tmp_path / "toy.pack.jsonl")
    suite = cases_of(pack, read_user_model(tmp_path / "tokenizer.json", whole=True))
    replying = Replying(suite, options, seed)
    with InProcessSession(replying) as session:
        results = run(session, [*suite.cases.values()]).results
    write_known_failures(results if seed else [], random.Random(seed), tmp_path / "known.yaml")
    known = read_known_failures(tmp_path / "known.yaml")
    wanted = {result.case.id: known.apply_to(result, date.today()).verdict.value for result in results}
    recording: dict[str, Any] = {
        "hello": write_hello(replying.hello()),
        "replies": [record(reply) for reply in replying.replies],
        "pack": str(tmp_path / "toy.pack.jsonl"),
    }
    if has_file:
        recording["model"] = str(tmp_path / "tokenizer.json")
    (tmp_path / "recording.json").write_bytes(encode_line(recording))
    verdicts = recorded(tmp_path)
    assert verdicts.pop("the run") == "pass"
    assert verdicts == wanted
    assert {"pass"} < set(wanted.values()) if seed else {"pass"} == set(wanted.values())


@pytest.mark.parametrize("recorded", RECORDED)
def test_packs_of_the_suite_come_with_the_packages(recorded: Callable[[Path], dict[str, str]], tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text('{"model": {"type": "BPE", "vocab": {}}}', "utf-8")
    pack, model = read_recording(find_pack("llama-3.1")), read_user_model(tmp_path / "tokenizer.json", whole=True)
    cases = list(cases_of(pack, model).cases.values())
    recording = {
        "hello": write_hello(replace(PACK_HELLO, encode_fields=("ids",))),
        "replies": [{"ok": case.outcome["expect"]} for case in cases],
        "pack": "llama-3.1",
    }
    (tmp_path / "recording.json").write_bytes(encode_line(recording))
    (tmp_path / "known.yaml").write_text("known_failures: []\n", "utf-8")
    assert recorded(tmp_path) == {case.id: "pass" for case in cases} | {"the run": "pass"}


#: A byte of no character alone, and one that a port gives as a lone surrogate. Ids that are not there are refused.
NOT_TEXTS = {27: {"ok": {"text": "\ufffd"}}, 28: {"ok": {"text": {"hex": "eda080"}}}}


def write_swept_pack(folder: Path) -> dict[str, Mapping[int, tuple[Mapping[str, Any], Any]]]:
    """Write a tokenizer and a pack with its sweep; return what is asked of each id and due, by part.

    Its ids go to 256. Block 2 has one text, whose ids have by chance the digest of nothing, and block 3 has none.
    """
    tokens = [*"abcdefghijklmnopqrstuvwxyz", "Ġ", "Ã", "©", "Ã©"]
    vocab = {token: id for id, token in enumerate(tokens)}
    merges = ["Ã ©", *(f"{one} {two}" for one in "abcd" for two in tokens[:25])][:98]
    vocab |= {merge.replace(" ", ""): id for id, merge in enumerate(merges[1:], 31)}
    vocab["fhjp"] = 128
    added = {"id": 256, "content": "<s>", "special": True, "normalized": False}
    added |= dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
    pieces = [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    second = {"Sequence": {"id": "B", "type_id": 1}}
    content = {
        "added_tokens": [added],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": pieces,
            "pair": [*pieces, second],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [256], "tokens": ["<s>"]}},
        },
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "vocab": vocab, "merges": merges},
    }
    (folder / "tokenizer.json").write_text(json.dumps(content), "utf-8")
    model = read_user_model(folder / "tokenizer.json", whole=True)
    choices = {name: option for name, option in TOKENIZERS_CHOICES.items() if name != "offset_unit"}
    sweep = Sweep(257, step_for(257), {"add_special_tokens": False}, "", "", "")
    parts = {part.name: part for part in parts_of(sweep, choices, model)}
    digests = {}
    for name, part in parts.items():
        digest_of = digest_of_texts if name == "texts" else digest_of_ids
        blocks = {block: digest_of([part.due[id] for id in ids]) for block, ids in blocks_of([*part.due])}
        digests[name] = "".join(blocks.get(block, digest_of_ids([])) for block in range(sweep.blocks))
    assert digests["ids"][8:16] == 2 * digest_of_ids([])
    who = {"name": "one", "version": "1", "language": ""}
    file = {"file": "tokenizer.json", "format": "tokenizer.json", "sha256": model.sha256}
    header = Header(
        "0.3.0", who, choices, file, "not added", (), {}, name="toy", sweep=replace(sweep, **digests).header()
    )
    lines = [{"text": "ab", "add_special_tokens": False, "ids": [vocab["ab"]]}]
    write_recording(folder / "toy.pack.jsonl", header, lines)
    return {
        name: {id: (part.asked[id], {part.field: due}) for id, due in part.due.items()} for name, part in parts.items()
    }


def replies_to_sweep(
    parts: Mapping[str, Mapping[int, tuple[Mapping[str, Any], Any]]],
    changed: Mapping[tuple[str, int], Mapping[str, Any]],
    unasked: Sequence[str],
    options: Sequence[str],
) -> Iterator[dict[str, Any]]:
    """Return the replies in the order in which a package asks, each once, and each with what is asked."""

    def decoded(first: int, end: int) -> Iterator[dict[str, Any]]:
        for id in range(first, end):
            due = (
                {"ok": parts["texts"][id][1]} if id in parts["texts"] else NOT_TEXTS.get(id, {"refused": "unknown_id"})
            )
            yield {**changed.get(("texts", id), due), "asked": {"ids": [id]}}

    yield from (*decoded(0, 192), *decoded(256, 257))
    for name in ("ids", "pairs"):
        for block, ids in blocks_of([*parts[name]]):
            if f"toy-{name}-{block:04}" in unasked:
                continue
            if (name, block) == ("pairs", 0):
                yield from decoded(192, 256)  # no case is about this block, but some pairs have their second id in it
            for id in ids:
                asked, due = parts[name][id]
                reply = changed.get((name, id), {"ok": due})
                yield {**reply, "asked": {key: asked[key] for key in asked if key in ("text", *options)}}
                if "ok" not in reply:
                    break


#: What is changed by part and id, what the tokenizer takes and gives, and the verdicts that are not passes.
SWEPT: Mapping[
    str, tuple[Mapping[tuple[str, int], Mapping[str, Any]], Sequence[str], Sequence[str], dict[str, str]]
] = {
    "right": ({}, ("add_special_tokens",), ("ids",), {}),
    "a wrong text and a wrong id": (
        {("texts", 128): {"ok": {"text": "a"}}, ("ids", 40): {"ok": {"ids": [40, 41]}}},
        (),
        ("tokens", "ids"),
        {"ids-0000": "fail", "texts-0002": "fail"}
        | dict.fromkeys(("ids-0002", "pairs-0000", "pairs-0001", "pairs-0002"), "unsupported"),
    ),
    "a wrong pair, a crash and refusals": (
        {
            ("ids", 0): {"crashed": True},
            ("ids", 70): {"refused": "unknown_symbol"},
            ("ids", 256): {"refused": "unknown_symbol"},
            ("pairs", 20): {"ok": {"ids": [1]}},
            ("pairs", 65): {"ok": {"ids": [1]}},
        },
        ("add_special_tokens",),
        ("ids",),
        {"ids-0000": "crash", "ids-0001": "error", "ids-0004": "known failure"}
        | {"pairs-0000": "known failure", "pairs-0001": "fail"},
    ),
    "no ids, and no text in a block": (
        {("texts", 128): {"crashed": True}},
        (),
        ("tokens",),
        {"0002-encode": "unsupported", "texts-0002": "crash"}
        | {f"{part}-{block:04}": "unsupported" for part in ("ids", "pairs") for block in (0, 1, 2, 4)},
    ),
}

#: Lists two cases as they fail, one otherwise and one past its date; digests are not compared.
KNOWN_OF_SWEEP = """
known_failures:
  - {case: "toy-ids-0004", verdict: "error", digest: "0123456789abcdef", reason: "a test"}
  - {case: "toy-pairs-0000", verdict: "fail", digest: "0123456789abcdef", reason: "a test"}
  - {case: "toy-ids-0000", verdict: "fail", digest: "0123456789abcdef", reason: "a test"}
  - {case: "toy-pairs-0001", verdict: "fail", digest: "0123456789abcdef", reason: "a test", expires: "2020-02-29"}
"""


@pytest.mark.parametrize("recorded", RECORDED)
@pytest.mark.parametrize("about", SWEPT)
def test_sweeps_of_packs_are_judged(about: str, recorded: Callable[[Path], dict[str, str]], tmp_path: Path) -> None:
    changed, options, fields, verdicts = SWEPT[about]
    parts = write_swept_pack(tmp_path)
    assert all(id in parts[name] for name, id in changed)
    wanted = {f"toy-{part}-{block:04}": "pass" for part in parts for block in (0, 1, 2, 4)}
    wanted |= {"toy-0002-encode": "pass", "toy-0002-decode": "pass"}
    wanted |= {f"toy-{case}": verdict for case, verdict in verdicts.items()}
    unasked = [case for case, verdict in wanted.items() if verdict == "unsupported"]
    of_line = [{"ok": {"ids": [32]}}, {"ok": {"text": "ab"}}]
    recording = {
        "hello": write_hello(replace(PACK_HELLO, encode_fields=fields, encode_options=options)),
        "replies": [*of_line, *replies_to_sweep(parts, changed, unasked, options)],
        "pack": str(tmp_path / "toy.pack.jsonl"),
        "model": str(tmp_path / "tokenizer.json"),
    }
    (tmp_path / "recording.json").write_text(json.dumps(recording), "utf-8")
    known = KNOWN_OF_SWEEP if "known failure" in verdicts.values() else "known_failures: []\n"
    (tmp_path / "known.yaml").write_text(known.lstrip(), "utf-8")
    assert recorded(tmp_path) == wanted | {"the run": "pass"}


@pytest.mark.parametrize("said", [node_said, cargo_said_and_noted, go_said, junit_said])
def test_sweeps_of_packs_are_left_out_for_another_file(said: Callable[[Path], str], tmp_path: Path) -> None:
    write_swept_pack(tmp_path)
    tokenizer = tmp_path / "tokenizer.json"
    tokenizer.write_text(f"{tokenizer.read_text('utf-8')}\n", "utf-8")
    recording = {
        "hello": write_hello(replace(PACK_HELLO, encode_fields=("ids",))),
        "replies": [{"ok": {"ids": [32]}}, {"ok": {"text": "ab"}}],
        "pack": str(tmp_path / "toy.pack.jsonl"),
        "model": str(tokenizer),
    }
    (tmp_path / "recording.json").write_bytes(encode_line(recording))
    (tmp_path / "known.yaml").write_text("known_failures: []\n", "utf-8")
    text = said(tmp_path)
    line = f"{tokenizer} is not the file that the pack toy was made from, so its sweep is left out"
    assert (line in text, "the ids 0 to 63" in text) == (True, False)


@pytest.mark.parametrize("said", [node_said, cargo_said_and_noted, go_said, junit_said])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ids": "0123"}, "sweep.ids has 4 digits; 257 ids need 20"),
        ({"size": 1000}, "digits; 1000 ids need 64"),
        (None, "is not the header of a pack"),
    ],
)
def test_broken_headers_of_packs_are_refused(
    said: Callable[[Path], str], change: Mapping[str, Any] | None, message: str, tmp_path: Path
) -> None:
    write_swept_pack(tmp_path)
    pack = tmp_path / "toy.pack.jsonl"
    first, *rest = pack.read_text("utf-8").splitlines(keepends=True)
    header = json.loads(first)
    header |= {"tokspec_recording": 3} if change is None else {"sweep": header["sweep"] | change}
    pack.write_text("".join([json.dumps(header) + "\n", *rest]), "utf-8")
    recording = {
        "hello": write_hello(replace(PACK_HELLO, encode_fields=("ids",))),
        "replies": [],
        "pack": str(pack),
        "model": str(tmp_path / "tokenizer.json"),
    }
    (tmp_path / "recording.json").write_bytes(encode_line(recording))
    (tmp_path / "known.yaml").write_text("known_failures: []\n", "utf-8")
    text = said(tmp_path)
    assert (f"{pack}:1: " in text, message in text) == (True, True)
