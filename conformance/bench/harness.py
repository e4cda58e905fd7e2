"""The harness beside its peers: ``python conformance/bench/harness.py [--only PATTERN]``.

Commands are measured in CPU seconds of all their processes, so that what else the machine does counts little; where two
processes work at once, in seconds of the clock. A bare loop does what a row is about and nothing else: no limits, no
checks of replies. toml-test, another public conformance suite, is built from its published module, which needs Go.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import files
from measure import CACHE, Measured, Row, Unmeasured, main, run_command

from tokspec import formats
from tokspec.adapter import Adapter
from tokspec.adapters.registry import find
from tokspec.base.errors import Unsupported
from tokspec.base.files import fixtures_folder
from tokspec.judge.runner import run
from tokspec.judge.verdicts import Verdict
from tokspec.protocol.messages import Answer, Request
from tokspec.sessions.in_process import InProcessSession
from tokspec.sessions.limits import Limits
from tokspec.sessions.program import ProgramSession
from tokspec.sessions.session import Session
from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite

HERE = Path(__file__).resolve().parent
ECHO = (sys.executable, str(HERE / "programs.py"))

#: How many requests go through the protocol, and how many are in flight in the bare loop.
REQUESTS = 20_000
IN_FLIGHT = 64

#: How often each case is asked of tokenizers, so that starting counts little.
TIMES = 5

#: Reads the fixtures as fast as Python can.
LIBYAML = """
import pathlib, sys, yaml
for file in pathlib.Path(sys.argv[1]).rglob("*.yaml"):
    yaml.load(file.read_bytes(), yaml.CSafeLoader)
"""

#: The decoder's module in a version that can be had; the runner asks for a commit that cannot.
GO_MODULE = """
module peer
go 1.23
require (
	github.com/toml-lang/toml-test v1.6.0
	github.com/BurntSushi/toml v1.5.0
)
replace github.com/BurntSushi/toml => github.com/BurntSushi/toml v1.5.0
"""
GO_PROGRAMS = ("github.com/toml-lang/toml-test/cmd/toml-test", "github.com/BurntSushi/toml/cmd/toml-test-decoder")

#: Reads as a decoder does, and writes nothing that is right; that a test fails takes no longer.
TOML_IN_PYTHON = "import sys, tomllib; tomllib.load(sys.stdin.buffer); print({})"

#: What the pinned versions come to: tests passed and failed that are valid TOML, and that are not.
TOML_OUTCOMES = {"Go": (185, 0, 358, 13), "Python": (3, 182, 371, 0)}

#: How a run of the suite, of pytest and of toml-test say how many cases they judged.
_SUITE = re.compile(r" conforms?: (\d+) ")
_PYTEST = re.compile(r"^(\d+) passed in ", re.MULTILINE)
_TOML = re.compile(r"^(?: *valid|invalid) tests: +([0-9]+) passed, +([0-9]+) failed$", re.MULTILINE)


def rows() -> list[Row]:
    """Return the rows: whole commands, judging, asking, several processes."""
    tokenizers = find("tokenizers")
    one_case = partial(tokspec_run, "--select", "bpe-toy-encode-bug")
    plugin, parametrized = partial(pytest, "--tokspec", "reference"), partial(pytest, "parametrized.py")
    in_process = partial(judge, lambda: InProcessSession(tokenizers.make()))
    hosted = partial(judge, lambda: tokenizers.serve(Limits()))
    return [
        Row("start and judge one case", one_case, "libyaml reads the fixtures", libyaml, 0.5, comparable=False),
        Row("judge the reference", tokspec_run, "pytest, parametrized", parametrized, 1),
        Row("judge the reference by the plugin", plugin, "pytest, parametrized", parametrized, 0.9),
        Row("judge the reference by the plugin", plugin, "tokspec run", tokspec_run, 0.33),
        *(
            Row(
                f"a case of {name}",
                partial(suite_case, name),
                f"toml-test, in {language}",
                partial(toml_case, language),
                1,
                comparable=False,
            )
            for name, language in (("reference", "Python"), ("tokenizers", "Go"))
        ),
        Row("judge tokenizers in this process", in_process, "a bare loop", bare_loop, 0.87),
        Row("judge tokenizers in a process of its own", hosted, "a bare loop", bare_loop, 0.77),
        Row(f"{REQUESTS} requests to an echo", requests, "a bare loop", bare_requests, 0.7),
        Row("cases of 50 ms, --jobs 2", partial(jobs, 2), "--jobs 1", partial(jobs, 1), 1.7),
        *files.rows(),
    ]


# Whole commands


def tokspec_run(*options: str, statuses: tuple[int, ...] = (0,)) -> Measured:
    """Run the suite; the result is how many cases were asked."""
    ended = run_command([sys.executable, "-m", "tokspec", "run", *options], statuses=statuses)
    return Measured(ended.processor, count_in(ended.output, _SUITE))


def pytest(*options: str) -> Measured:
    """Run pytest, in which all tests have to pass; the result is how many there are."""
    alone = ("-c", os.devnull, "--rootdir", str(HERE), "-p", "no:cacheprovider", "-q")
    ended = run_command([sys.executable, "-m", "pytest", *alone, *options], HERE)
    return Measured(ended.processor, count_in(ended.output, _PYTEST))


def libyaml() -> Measured:
    """Read the fixtures, and nothing else."""
    ended = run_command([sys.executable, "-c", LIBYAML, str(fixtures_folder())])
    return Measured(ended.processor, None)


def count_in(output: str, pattern: re.Pattern[str]) -> int:
    """Read how many cases were judged.

    >>> count_in("tokenizers 0.23.3 does not conform: 592 of 936 cases asked = 590 pass + 2 fail", _SUITE)
    592
    """
    found = pattern.search(output)
    if found is None:
        raise Unmeasured(f"no count of cases in {output.strip().rpartition(chr(10))[2]!r}")
    return int(found[1])


@cache
def toml_test() -> tuple[str, str]:
    """Build the runner of toml-test and a decoder; return their paths."""
    folder = CACHE / "toml-test"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "go.mod").write_text(GO_MODULE, "utf-8")
    run_command(["go", "build", "-mod=mod", "-o", "bin/", *GO_PROGRAMS], folder)
    runner, decoder = (str(folder / "bin" / Path(program).name) for program in GO_PROGRAMS)
    return runner, decoder


def toml_case(language: str) -> Measured:
    """Run toml-test with a decoder, for which it starts a program each time; return the seconds of a case."""
    runner, decoder = toml_test()
    decoders = {"Go": (decoder,), "Python": ("--", sys.executable, "-S", "-E", "-c", TOML_IN_PYTHON)}
    ended = run_command([runner, *decoders[language]], statuses=(1,))  # some tests fail, and it is known which
    outcome = tuple(int(count) for counts in _TOML.findall(ended.output) for count in counts)
    if outcome != TOML_OUTCOMES[language]:
        raise Unmeasured(f"toml-test counts {outcome} and not {TOML_OUTCOMES[language]}")
    return Measured(ended.processor / sum(outcome), outcome)


def suite_case(name: str) -> Measured:
    """Judge an implementation; return the seconds of a case that is asked."""
    seconds, asked = tokspec_run("--impl", name, statuses=(0, 1))
    return Measured(seconds / asked, asked)


# Judging, beside a loop that asks the same adapter for the same cases


@cache
def passing() -> tuple[list[Case], dict[str, Any]]:
    """Return the cases that tokenizers passes with an answer, several times over, and its answers by case."""
    questions = [question for case in load_suite().cases.values() for question in case.questions]
    with find("tokenizers").serve(Limits()) as session:  # in a process of its own, as some cases end it
        results = run(session, questions).results
    cases = [each.case for each in results if each.verdict is Verdict.PASS and "expect" in each.expected]
    adapter = find("tokenizers").make()
    return cases * TIMES, {case.id: adapter.run(case.operation, load(adapter, case), case.input) for case in cases}


def judge(start: Callable[[], Session]) -> Measured:
    """Judge those cases by the suite; the result is how many pass. Starting is not counted."""
    cases, _ = passing()
    with start() as session:
        began = time.perf_counter()
        finished = run(session, cases)
        return Measured(time.perf_counter() - began, finished.counts[Verdict.PASS])


def bare_loop() -> Measured:
    """Load each model, ask every case and compare; the result is how many answers are right."""
    cases, answers = passing()
    adapter, models, right = find("tokenizers").make(), dict[str, Any](), 0
    began = time.perf_counter()
    for case in cases:
        if case.model.name not in models:
            models[case.model.name] = load(adapter, case)
        right += adapter.run(case.operation, models[case.model.name], case.input) == answers[case.id]
    return Measured(time.perf_counter() - began, right)


def load(adapter: Adapter, case: Case) -> Any:
    """Load a case's model in the first format that both know."""
    for name in adapter.hello().formats:
        try:
            return adapter.load(name, formats.write(name, case.model.content))
        except Unsupported:
            continue
    raise Unmeasured(f"tokenizers passes {case.id} and loads no format of its model")


# Asking, beside a loop that sends and receives lines


def requests() -> Measured:
    """Ask the echo through the protocol; the result is how many answers are right."""
    asked = [Request("normalize", "m", {}, {"text": f"text {number}"}) for number in range(REQUESTS)]
    with ProgramSession(ECHO) as session:
        began = time.perf_counter()
        replies = dict(session.ask(asked))
        seconds = time.perf_counter() - began
    return Measured(seconds, sum(replies[index] == Answer(request.input) for index, request in enumerate(asked)))


def bare_requests() -> Measured:
    """Ask it with some requests in flight."""
    with subprocess.Popen(ECHO, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        send, receive, sent, right = program.stdin, program.stdout, 0, 0
        send.write(b'{"id":0,"op":"hello","protocol":1}\n')
        send.flush()
        receive.readline()
        began = time.perf_counter()
        for received in range(REQUESTS):
            if sent - received <= IN_FLIGHT // 2:
                end = min(received + IN_FLIGHT, REQUESTS)
                send.write(b"".join(map(message, range(sent, end))))
                send.flush()
                sent = end
            right += json.loads(receive.readline()) == {"id": received, "ok": {"text": f"text {received}"}}
        seconds = time.perf_counter() - began
        send.close()
    return Measured(seconds, right)


def message(number: int) -> bytes:
    """Write a request."""
    request = {"id": number, "op": "normalize", "model": "m", "input": {"text": f"text {number}"}}
    return json.dumps(request).encode() + b"\n"


# Several processes


def jobs(count: int) -> Measured:
    """Judge some cases by several processes; the result is the report without its header."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.ndjson")
        options = ("--impl", "programs:Waiting", "--jobs", str(count), "--select", "bpe*", "--report", str(report))
        ended = run_command([sys.executable, "-m", "tokspec", "run", *options], HERE)
        return Measured(ended.clock, report.read_text("utf-8").partition("\n")[2])


if __name__ == "__main__":
    sys.exit(main("harness", rows()))
