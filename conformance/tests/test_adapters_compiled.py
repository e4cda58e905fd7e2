"""The adapters in Go, Rust and Java. Each has to be built first, as the README in its folder says."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.interop, pytest.mark.slow]

FOLDER = Path(__file__).parents[1] / "adapters"
SECONDS = 60


@dataclass(frozen=True)
class Program:
    """An adapter: where it is, how it is started, and what becomes of a run."""

    folder: str
    built: str
    before: str
    after: str
    lock: str
    package: str
    said: str

    @property
    def command(self) -> str:
        """The command line; skips the test where it cannot be run."""
        program = FOLDER / self.built
        if not program.exists():
            pytest.skip(f"{self.built} is not built; see {self.folder.split('/')[0]}/README.md")
        if self.before and shutil.which(self.before.split()[0]) is None:
            pytest.skip(f"there is no {self.before.split()[0]}")
        return f"{self.before}{shlex.quote(str(program))}{self.after}"


def go(name: str, package: str, said: str) -> Program:
    return Program(f"go/{name}", f"go/bin/{name}", "", "", "go/go.mod", f"{package} v", said)


def rust(name: str, package: str, said: str) -> Program:
    return Program(f"rust/{name}", f"rust/target/release/{name}", "", "", "rust/Cargo.toml", package, said)


def java(name: str, main: str, package: str, said: str) -> Program:
    return Program(f"java/{name}", "java/target/adapters.jar", "java -cp ", f" {main}", "java/pom.xml", package, said)


PROGRAMS = [
    go("sugarme", "github.com/sugarme/tokenizer", "sugarme/tokenizer 0.3.0"),
    go("pkoukk", "github.com/pkoukk/tiktoken-go", "pkoukk/tiktoken-go 0.1.8"),
    go("go-sentencepiece", "github.com/eliben/go-sentencepiece", "eliben/go-sentencepiece 0.7.0"),
    Program("go/ollama", "go/bin/ollama", "", "", "go/ollama/go.mod", "github.com/ollama/ollama v", "ollama 0.17.4"),
    rust("kitoken", '[dependencies.kitoken]\nversion = "=', "kitoken 0.11.1"),
    rust("tiktoken-rs", '[dependencies.tiktoken-rs]\nversion = "=', "tiktoken-rs 0.12.1"),
    rust("llm-tokenizer", '[dependencies.llm-tokenizer]\nversion = "=', "llm-tokenizer 1.10.0"),
    java("djl", "Djl", "<artifactId>tokenizers</artifactId>\n      <version>", "DJL 0.38.0"),
    java("jtokkit", "Jtokkit", "<artifactId>jtokkit</artifactId>\n      <version>", "jtokkit 1.1.0"),
    java("opennlp", "OpenNlp", "<artifactId>opennlp-tools</artifactId>\n      <version>", "opennlp-tools WordpieceTokenizer 2.5.7"),
    java("tribuo", "Tribuo", "<artifactId>tribuo-util-tokenization</artifactId>\n      <version>", "tribuo-util-tokenization Wordpiece 4.3.2"),
]  # fmt: skip

#: Those of which no case tells one option from another: ``probe`` ends with 1.
TELL_NOTHING = {"go/ollama"}

every_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.folder)


def talk(program: Program, *lines: str) -> tuple[list[Any], int]:
    """Return the replies to lines, and the exit status."""
    run = subprocess.run(
        shlex.split(program.command), input="".join(f"{line}\n" for line in lines), capture_output=True, encoding="utf-8", timeout=SECONDS
    )  # fmt: skip
    return [json.loads(line) for line in run.stdout.splitlines()], run.returncode


def judged(program: Program, command: str) -> subprocess.CompletedProcess[str]:
    """Have a command ask a program, with what is known of it."""
    known = FOLDER / program.folder / "known-failures.yaml"
    words = [sys.executable, "-m", "tokspec", command, "--cmd", program.command, "--known-failures", str(known)]
    return subprocess.run(words, capture_output=True, encoding="utf-8")


@every_program
def test_it_conforms_but_for_what_is_known(program: Program) -> None:
    run = judged(program, "run")
    assert (
        run.returncode,
        re.split(" (?:conforms|matches its list of known failures): ", run.stdout.splitlines()[-1])[0],
    ) == (0, program.said)


@every_program
def test_the_choices_are_those_that_its_answers_show(program: Program) -> None:
    run = judged(program, "probe")
    assert (run.returncode, run.stderr) == (int(program.folder in TELL_NOTHING), ""), run.stdout
    assert (run.stdout.splitlines()[-1] == "no case that it answers says anything about its choices") == (
        program.folder in TELL_NOTHING
    )


@every_program
def test_every_known_failure_is_explained(program: Program) -> None:
    text = (FOLDER / program.folder / "known-failures.yaml").read_text("utf-8")
    assert "not explained yet" not in text


@every_program
def test_it_names_the_version_that_it_is_built_with(program: Program) -> None:
    (reply,), status = talk(program, '{"id": 1, "op": "hello", "protocol": 1}')
    assert status == 0
    assert f"{program.package}{reply['ok']['version']}" in (FOLDER / program.lock).read_text("utf-8")


@every_program
def test_the_readme_lists_its_choices(program: Program) -> None:
    (reply,), _ = talk(program, '{"id": 1, "op": "hello", "protocol": 1}')
    readme = (FOLDER / program.folder.split("/")[0] / "README.md").read_text("utf-8")
    section = readme.split(f"### {program.folder.split('/')[1]}\n")[1].split("\n### ")[0]
    rows = [line.split(" | ")[:2] for line in section.splitlines() if line.startswith("| `")]
    assert rows == [[f"| `{name}`", f"`{option}`"] for name, option in sorted(reply["ok"].get("choices", {}).items())]


@every_program
@pytest.mark.parametrize("garbage", ["", "{", "null", "[]", "5", '"bye"', '{"op": 5}', '{"op": "load"}', "\ufeff{}"])
def test_garbage_is_refused_and_it_goes_on(program: Program, garbage: str) -> None:
    (refused, ended), status = talk(program, garbage, '{"id": 2, "op": "bye"}', '{"id": 3, "op": "bye"}')
    assert (refused["id"], refused["refused"]["reason"]) == (None, "unsupported")
    assert (ended, status) == ({"id": 2, "ok": {}}, 0)


@every_program
def test_what_it_does_not_offer_is_refused(program: Program) -> None:
    (reply,), _ = talk(program, '{"id": 1, "op": "train", "model": "m", "input": {}}')
    assert (reply["id"], reply["refused"]["reason"]) == (1, "unsupported")


WORDS = {
    "files": {"vocab.txt": "[UNK]\na\n"},
    "beside": {"unknown_token": "[UNK]", "continuing_prefix": "##", "max_word_length": 2**32},
}
STRIPS = {
    "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []},
    "decoder": {"type": "Strip", "content": "_", "start": 2**32, "stop": 0},
}


@pytest.mark.parametrize(
    ("folder", "format", "content", "message"),
    [
        ("rust/kitoken", "tokenizer.json", STRIPS, "invalid data: Strip decoder start value is too large"),
        ("java/opennlp", "vocab.txt", WORDS, "has numbers of 32 bits, and no 4294967296"),
        ("java/tribuo", "vocab.txt", WORDS, "has numbers of 32 bits, and no 4294967296"),
    ],
)
def test_a_number_of_more_than_32_bits_is_refused(folder: str, format: str, content: Any, message: str) -> None:
    (program,) = (program for program in PROGRAMS if program.folder == folder)
    load = {"id": 1, "op": "load", "model": "m", "format": format, "content": content}
    (reply,), _ = talk(program, json.dumps(load))
    assert reply == {"id": 1, "refused": {"reason": "unsupported", "message": message}}


@every_program
def test_the_end_of_the_input_ends_it(program: Program) -> None:
    assert talk(program) == ([], 0)
