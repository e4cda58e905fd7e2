"""The action for GitHub: its steps run in a temporary repository as a runner runs them, with the files of a runner."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from tokspec.suite.fixtures import load_suite

pytestmark = pytest.mark.slow

#: For tests that install packages; every other test does without a network.
registries = pytest.mark.skipif("TOKSPEC_REGISTRIES" not in os.environ, reason="needs registries: tox run -e action")

ROOT = Path(__file__).parents[2]
ACTION: Mapping[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))

#: How a runner starts a step of "shell: bash".
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail")

EXPRESSION = re.compile(r"\$\{\{ (.+?) \}\}")

#: Cuts texts into letters, and says on both streams what only the workflow may say.
LETTERS = """
import sys
from tokspec.adapter import Hello, Refusal

class Letters:
    def hello(self):
        return Hello("letters", "1", "Python", operations=("encode",))
    def load(self, format, content):
        return None
    def run(self, operation, model, input):
        print("::error::from standard output", flush=True)
        print("::error::from standard error", file=sys.stderr, flush=True)
        if input["text"] == "hugs":
            raise RuntimeError("::error::from a crash\\n::warning::100%")
        return {"tokens": list(input["text"])}
"""

SELECT = "bpe-toy-encode-bug\n\nbpe-toy-encode-mug\nbpe-toy-encode-hugs\n"


@dataclass
class Job:
    """A job that uses the action: its repository, and what became of its steps."""

    folder: Path
    inputs: dict[str, str]
    log: str = ""
    status: int = 0
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    artifacts: dict[str, list[str]] = field(default_factory=dict)

    def evaluate(self, text: str) -> str:
        """Fill in the expressions that the action uses."""
        return EXPRESSION.sub(lambda found: self.value(found[1]), text)

    def value(self, name: str) -> str:
        if name in ("github.action_path", "runner.temp"):
            return str({"github.action_path": ROOT, "runner.temp": self.folder / "temp"}[name])
        first, rest = name.split(".", 1)
        if first == "inputs":
            return self.inputs.get(rest, ACTION["inputs"][rest]["default"])
        step, key = re.fullmatch(r"(\w+)\.outputs\.([\w-]+)", rest).groups()  # type: ignore[union-attr]
        return self.outputs.get(step, {}).get(key, "")

    def run(self, skipped: tuple[str, ...] = ()) -> Job:
        """Run the steps; one that fails skips those after it that do not say otherwise."""
        for step in ACTION["runs"]["steps"]:
            if step["name"] in skipped:
                continue
            if "uses" in step:
                self.keep(step)
            elif self.status == 0:
                self.run_step(step)
        return self

    def keep(self, step: Mapping[str, Any]) -> None:
        """Do what actions/upload-artifact does, under the condition that the action states."""
        assert step["if"] == "${{ !cancelled() && inputs.artifact != '' && steps.judge.outputs.reports != '' }}"
        settings = {key: self.evaluate(value) for key, value in step["with"].items()}
        if settings["name"] and settings["path"]:
            self.artifacts[settings["name"]] = sorted(file.name for file in Path(settings["path"]).iterdir())

    def run_step(self, step: Mapping[str, Any]) -> None:
        assert step["shell"] == "bash"
        assert EXPRESSION.search(step["run"]) is None  # what a user writes reaches a script by its environment alone
        script, output = self.folder / "step.sh", self.folder / "output"
        script.write_text(step["run"], "utf-8")
        output.write_text("")
        files = {"GITHUB_OUTPUT": output, "GITHUB_STEP_SUMMARY": self.folder / "summary.md"}
        files["GITHUB_ENV"] = self.folder / "env"
        own = {name: self.evaluate(value) for name, value in step.get("env", {}).items()}
        environment = {**os.environ, "GITHUB_ACTIONS": "true", **{key: str(file) for key, file in files.items()}, **own}
        folder = self.folder / "repository" / self.evaluate(step.get("working-directory", "."))
        done = subprocess.run([*BASH, script], cwd=folder, env=environment, capture_output=True, text=True)
        self.log += done.stdout + done.stderr
        self.status = done.returncode
        if "id" in step:
            lines = [line.partition("=") for line in output.read_text("utf-8").splitlines()]
            self.outputs[step["id"]] = {key: value for key, _, value in lines}

    def out(self, name: str) -> str:
        """Return an output of the action."""
        return self.evaluate(ACTION["outputs"][name]["value"])

    @property
    def commands(self) -> list[str]:
        """The workflow commands of the log that a runner obeys."""
        obeyed, token = [], None
        for line in self.log.splitlines():
            stripped = line.strip()
            if token is not None:
                token = None if stripped == f"::{token}::" else token
            elif stripped.startswith("::stop-commands::"):
                token = stripped.removeprefix("::stop-commands::")
            elif stripped.startswith("::"):
                obeyed.append(stripped)
        return obeyed


@pytest.fixture
def job(tmp_path: Path) -> Callable[..., Job]:
    """Run the action in a job, with a tokspec that is installed already."""

    def job(install: bool = False, **inputs: str) -> Job:
        (tmp_path / "repository").mkdir(exist_ok=True)
        (tmp_path / "repository" / "letters.py").write_text(LETTERS, "utf-8")
        named = {name.replace("_", "-"): value for name, value in inputs.items()}
        if not install:
            program = tmp_path / "temp" / "tokspec" / "bin" / "tokspec"
            program.parent.mkdir(parents=True, exist_ok=True)
            program.write_text(f'#!/bin/sh\nexec {sys.executable} -m tokspec "$@"\n')
            program.chmod(0o755)
        return Job(tmp_path, named).run(() if install else ("Install tokspec",))

    return job


def test_a_gate_that_fails(job: Callable[..., Job], tmp_path: Path) -> None:
    done = job(implementation="letters:Letters", select=SELECT)
    assert done.status == 1
    assert {name: done.out(name) for name in ACTION["outputs"] if name not in ("counts", "reports")} == {
        "state": "does not conform",
        "conforms": "false",
        "holds": "false",
        "cases": "3",
        "passed": "0",
        "failed": "3",
        "known-failures": "0",
        "unsupported": "0",
    }
    counts = {name: count for name, count in json.loads(done.out("counts")).items() if count}
    assert counts == {"fail": 2, "crash": 1}
    assert done.artifacts == {"tokspec": ["junit.xml", "messages.txt", "run.html", "run.ndjson", "summary.md"]}
    assert [re.sub(r"\d+", "N", command.split("::")[1]) for command in done.commands] == [
        "error title=FAIL bpe-toy-encode-bug  (bpe/toy-encoding.yaml%NAN)",
        "error title=FAIL bpe-toy-encode-mug  (bpe/toy-encoding.yaml%NAN)",
        "error title=CRASH bpe-toy-encode-hugs  (bpe/toy-encoding.yaml%NAN)",
    ]
    assert "100%25" in done.commands[2]
    summary = (tmp_path / "summary.md").read_text("utf-8")
    assert summary.startswith("## letters 1 does not conform\\: 3 cases = 2 fail + 1 crash\n")
    reports = Path(done.out("reports"))
    suite = ElementTree.parse(reports / "junit.xml").getroot()[0]
    assert {key: suite.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "3",
        "failures": "2",
        "errors": "1",
    }
    assert "bpe-toy-encode-bug" in (reports / "run.html").read_text("utf-8")


def test_a_gate_that_passes(job: Callable[..., Job], tmp_path: Path) -> None:
    wanted = {"select": "BPE-*", "require": "BPE-ENC-1\nBPE-ENC-3\n", "fixtures_version": "0.1.0"}
    done = job(implementation="reference", artifact="", **wanted)
    assert (done.status, done.out("conforms"), done.out("failed"), done.commands) == (0, "true", "0", [])
    assert done.out("passed") == done.out("cases") != "0"
    assert done.artifacts == {}
    assert (tmp_path / "summary.md").read_text("utf-8").startswith("## tokref 0.3.0 conforms\\: ")


def test_what_is_required_and_not_there_fails_the_gate(job: Callable[..., Job]) -> None:
    done = job(implementation="reference", select="bpe-toy-encode-bug", require="BPE-ENC-1")
    assert (done.status, done.out("conforms"), done.out("failed"), len(done.commands)) == (1, "false", "0", 1)
    title, _, message = done.commands[0].removeprefix("::error ").partition("::")
    assert title == "title=tokref 0.3.0 does not conform%3A 1 case = 1 pass"
    cases = [case.id for case in load_suite().cases.values() if "BPE-ENC-1" in case.clauses]
    missing = [id for id in cases if id != "bpe-toy-encode-bug"]
    counts = f"1 of {len(cases)} cases pass ({len(missing)} not selected)"
    listed = f"{', '.join(missing[:3])} and {len(missing) - 3} more"
    assert message == f"--require BPE-ENC-1: {counts}: {listed}"


def test_known_failures_and_a_command_in_another_folder(job: Callable[..., Job], tmp_path: Path) -> None:
    folder = tmp_path / "repository" / "port"
    folder.mkdir(parents=True)
    (folder / "letters.py").write_text(LETTERS, "utf-8")
    selected = [word for pattern in (*SELECT.split()[:2], "encode-empty") for word in ("--select", pattern)]
    command = f"{sys.executable} -m tokspec.sessions.adapter_server letters:Letters ."
    update = ["run", "--cmd", command, "--update-known-failures", *selected]
    subprocess.run([sys.executable, "-m", "tokspec", *update], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    done = job(
        command=command,
        known_failures="tokspec-known-failures.yaml",
        select="bpe-toy-encode-bug\nbpe-toy-encode-mug\nencode-empty",
        working_directory="port",
    )
    assert (done.status, done.out("known-failures"), done.out("passed"), done.commands) == (0, "2", "1", [])


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, "::error title=tokspec::give an implementation or a command"),
        (
            {"implementation": "reference", "select": "no-such-case-100%"},
            "::error title=tokspec::tokspec: --select: 'no-such-case-100%25' matches no case;",
        ),
        (
            {"implementation": "reference", "command": "$(touch harmed); `touch harmed`"},
            "::error title=tokspec::give an implementation or a command, not both",
        ),
        ({"implementation": " "}, "::error title=tokspec::the implementation or command is blank"),
        ({"implementation": "\n"}, "::error title=tokspec::the implementation or command is blank"),
        ({"command": " \t"}, "::error title=tokspec::the implementation or command is blank"),
    ],
)
def test_what_is_wrong_with_the_inputs_is_an_error_and_keeps_nothing(
    job: Callable[..., Job], tmp_path: Path, inputs: dict[str, str], message: str
) -> None:
    done = job(**inputs)
    assert (done.status, done.artifacts, len(done.commands)) == (2, {}, 1)
    assert done.commands[0].startswith(message)
    assert list(tmp_path.rglob("harmed")) == []


def test_a_command_is_a_program_whatever_its_name_looks_like(job: Callable[..., Job]) -> None:
    done = job(command="reference", select=SELECT)
    assert (done.status, done.out("conforms"), len(done.commands)) == (2, "", 1)
    assert done.commands[0].startswith(
        "::error title=tokspec::tokspec: 'reference': cannot be started: there is no program "
    )


def test_the_action_uses_options_that_the_help_shows() -> None:
    script = next(step["run"] for step in ACTION["runs"]["steps"] if step["name"] == "Judge")
    used = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", script))
    shown = {word for verb in ("run", "report") for word in re.findall(r"--[a-z][a-z-]+", help_of(verb))}
    assert used - shown == set()


def help_of(verb: str) -> str:
    command = [sys.executable, "-m", "tokspec", verb, "--help"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.interop
@registries
def test_the_first_step_installs_the_suite_and_what_is_required(job: Callable[..., Job], tmp_path: Path) -> None:
    (tmp_path / "repository").mkdir()
    project = '[project]\nname = "letters"\nversion = "1"\n'
    (tmp_path / "repository" / "pyproject.toml").write_text(project)
    done = job(install=True, implementation="letters:Letters", select=SELECT, requirements=".\n tokenizers>=0.21\n")
    assert (done.status, done.out("failed")) == (1, "3"), done.log
    packages = [*(tmp_path / "temp" / "tokspec").rglob("tokenizers")]
    assert packages


@pytest.mark.interop
@registries
def test_actionlint_finds_nothing(tmp_path: Path) -> None:
    """Check the workflows, and the steps of the action as those of a workflow, which actionlint looks into."""
    workflows = tmp_path / ".github" / "workflows"
    workflows.mkdir(parents=True)
    for file in (ROOT / ".github" / "workflows").iterdir():
        shutil.copy(file, workflows)
    shutil.copy(ROOT / "action.yml", tmp_path)
    steps = json.loads(json.dumps(ACTION["runs"]["steps"]).replace("github.action_path", "github.workspace"))
    inputs = {name: {**each, "type": "string"} for name, each in ACTION["inputs"].items()}
    outputs = {name: each["value"] for name, each in ACTION["outputs"].items()}
    jobs = {"action": {"runs-on": "ubuntu-latest", "steps": steps, "outputs": outputs}}
    (workflows / "of-the-action.yml").write_text(
        yaml.safe_dump({"on": {"workflow_call": {"inputs": inputs}}, "jobs": jobs})
    )
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    command = ["go", "run", "github.com/rhysd/actionlint/cmd/actionlint@v1.7.7", "-no-color"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("", 0), done.stderr
