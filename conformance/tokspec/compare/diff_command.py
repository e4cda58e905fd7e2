"""``tokspec diff``: show what differs between two sides, by cause."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import click

from tokspec.base.display import visible
from tokspec.base.errors import DataError
from tokspec.base.files import write_whole
from tokspec.cli.known import Ratchet, known_failures_options
from tokspec.cli.options import (
    COUNT,
    FILE,
    PROCESSES,
    Finite,
    choices_option,
    files_of_implementation,
    limits_options,
    parse_choices,
    refuse_outputs,
)
from tokspec.cli.progress import ProgressBar
from tokspec.compare.answers import Asker
from tokspec.compare.compare import compare_cases, compare_records, compare_texts, default_inputs, unit_of
from tokspec.compare.engines import ENGINES, Progress, count_processors, run_units
from tokspec.compare.inputs import Reading, files_of_texts
from tokspec.compare.minimize import Minimizer, Small
from tokspec.compare.models import compare_models, compare_summaries, parts_of_two, summarize
from tokspec.compare.record_command import FORMATS, texts_options
from tokspec.compare.recording import Recording, find_model
from tokspec.compare.report import Summary, count, describe_comparison, make_run, markdown
from tokspec.compare.saving import Explained, explain, save
from tokspec.compare.sides import Side, choices_for, describe_sides, open_side, parse_side, stream_options
from tokspec.compare.tally import Group, Tally
from tokspec.compare.units import (
    Header,
    Unit,
    cut_into_units,
    find_done,
    lock_folder,
    prepare_folder,
    sum_results,
)
from tokspec.formats.cautions import cautions_of
from tokspec.formats.user_model import CONVERTED, UserModel, files_of_model, read_user_model
from tokspec.judge.judging import apply_known, end_problems, with_problems
from tokspec.judge.runner import Run, make_request
from tokspec.judge.verdicts import Verdict, effective_choices, judge
from tokspec.protocol.replies import check_form
from tokspec.report.ndjson import ndjson, origin
from tokspec.report.text import say
from tokspec.sessions.limits import Limits, adopt_orphans
from tokspec.sessions.session import Session
from tokspec.suite.fixtures import load_suite
from tokspec.suite.recordings import PER_LINE

_MEGABYTE = 1024**2

#: The types of models and stages that a choice affects, by its first word; other choices affect all.
_TYPES: Mapping[str, set[str]] = {
    "bpe": {"bpe"},
    "unigram": {"unigram"},
    "metaspace": {"metaspace"},
    "final": {"lowercase", "bert", "bertnormalizer"},
    "pattern": {"split", "replace"},
}

#: How many causes are minimized.
_MINIMIZED = 20


_MODEL = "Model of both sides; by default, that of a recording. If given twice, the second is the model of B."
_FORMAT = "Format of the model; the default depends on its name. If given twice, the second is the format of B's model."
_JOBS = "Number of units (parts of FILES) to compare at once; by default, one for each processor."
_OUTPUT = "Folder in which to keep the results of the units of FILES."
_REPORT = "Write the comparison to this file: .ndjson, .md, or .xml for JUnit."
_ENGINE = (
    "Where to compare the units: local, dask or ray. To use an existing cluster, add its address, as in ray=ADDRESS."
)


@click.command("diff", short_help="Compare two implementations, releases, models or recordings.")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.argument("files", nargs=-1, metavar="[FILES]...")
@click.option("--model", "models", multiple=True, type=FILE, metavar="FILE", help=_MODEL)
@click.option("--model-b", type=FILE, hidden=True)
@click.option("--format", "formats", multiple=True, type=FORMATS, help=_FORMAT)
@texts_options
@click.option("--only-files", is_flag=True, help="Compare only FILES, without the suite's texts.")
@click.option("--ids", "ids_alone", is_flag=True, help="Compare only ids.")
@click.option("--sample", default=1.0, type=Finite(0, 1, min_open=True), help="Fraction of the texts to compare.")
@click.option("--jobs", type=PROCESSES, metavar="N", help=_JOBS)
@click.option("--engine", default="local", show_default=True, metavar="NAME[=ADDRESS]", help=_ENGINE)
@click.option("--address", metavar="ADDRESS", hidden=True)
@click.option("--unit-mb", default=4.0, hidden=True, type=Finite(0, 1_000_000, min_open=True))
@click.option("-o", "--output", default="tokspec-diff", show_default=True, type=FILE, help=_OUTPUT)
@choices_option
@limits_options
@click.option(
    "--select",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help="Compare only this: an operation (normalize, pre_tokenize, encode, decode, or decode_stream, which is "
    "compared only if you select it), a section (cases, texts/*, vocabulary/*, special_tokens or inputs), or both, as "
    "in encode/texts/*. May be repeated.",
)
@known_failures_options
@click.option("--show", type=COUNT, default=10, show_default=True, help="Number of causes to show.")
@click.option("--report", "reports", multiple=True, type=FILE, metavar="FILE", help=_REPORT)
@click.option("--junit", "junit_file", type=FILE, hidden=True)
@click.option("--save", "saved", type=FILE, metavar="FOLDER", help="Write each cause to this folder, as a case.")
def diff_command(known_failures: Path | None, update: bool, crashes: bool, **options: Any) -> int:
    """Show what differs between A and B, by cause, each with the smallest input and model that show it.

    \b
    tokspec diff before.ndjson tokenizers                                  a recording and an implementation
    tokspec diff tokenizers==0.22.1 tokenizers==0.23.3                     two releases
    tokspec diff tokenizers@old-venv tokenizers --model tokenizer.json     two environments
    tokspec diff tokenizers "node adapter.mjs" --model tokenizer.json      a program
    tokspec diff tokenizers tiktoken texts/ 'logs/*.jsonl.gz' --model r50k_base.tiktoken

    A and B are each NAME, NAME==VERSION, NAME@ENVIRONMENT, module:object or "PROGRAM ARGS", or a recording. Without a
    model, they are compared on the suite's cases; with a model, on the suite's texts and on texts made from the model's
    vocabulary.

    FILES are files, folders, patterns or addresses. The ids of their texts are compared too, or, with --select
    decode_stream, the streams that both sides decode from A's ids. Finished parts are kept in a folder, so that the
    same command continues where it stopped.

    Exit status: 0 if nothing differs except known failures, 1 if something else does, 2 if not everything could be
    compared, as after Ctrl-C, or if there was nothing to compare.
    """
    ratchet = Ratchet.of(known_failures, update, crashes)
    options["engine"], _, address = options["engine"].partition("=")
    options["address"] = address or options["address"]
    options |= _of_sides(options.pop("models"), options.pop("formats"), options["model_b"])
    if options["engine"] not in ENGINES:
        raise click.BadParameter(f"{options['engine']!r} is not one of {', '.join(ENGINES)}", param_hint="'--engine'")
    with ExitStack() as stack:
        return _Diff(ratchet=ratchet, stack=stack, **options).run()


def _of_sides(models: Sequence[Path], formats: Sequence[str], model_b: Path | None) -> dict[str, Any]:
    """Return the model of each side, and the format to read it as, unless its name decides that."""
    given = [*models, *([model_b] if model_b else [])]
    for option, each in (("--model", given), ("--format", formats)):
        if len(each) > 2:
            raise click.UsageError(f"{option} is given {len(each)} times; there are two sides")
    model, model_b = (*given, None, None)[:2] if models else (None, model_b)
    format, format_b = (*formats, None, None)[:2]
    if not (format_b or (model and model_b and model.suffix != model_b.suffix)):
        format_b = format  # a name of another kind shows its own format
    return {"model": model, "model_b": model_b, "format": format, "format_b": format_b}


@dataclass(frozen=True)
class _Diff:
    """The options of a comparison."""

    ratchet: Ratchet
    stack: ExitStack
    a: str
    b: str
    files: tuple[str, ...]
    model: Path | None
    model_b: Path | None
    format: str | None
    format_b: str | None
    made: int
    adds: bool
    kind: str | None
    field: str
    only_files: bool
    ids_alone: bool
    sample: float
    jobs: int | None
    engine: str
    address: str | None
    unit_mb: float
    output: Path
    choices: tuple[str, ...]
    limits: Limits
    patterns: tuple[str, ...]
    show: int
    reports: tuple[Path, ...]
    junit_file: Path | None
    saved: Path | None

    @cached_property
    def progress(self) -> Progress:
        """The progress of the units of files."""
        return Progress()

    def run(self) -> int:
        """Compare the sides, report the result, and return the exit status."""
        self._refuse_what_cannot_be()
        models = self._models()
        tally = self._compare_files(models) if self.files else Tally()
        if not (self.only_files or self.progress.interrupted):
            try:
                self._compare_here(tally)
            except DataError as error:
                if not self.files:
                    raise
                self.progress.faults.append(f"the suite's texts: {error}")
        if unmatched := [pattern for pattern in self.patterns if pattern not in self._matched]:
            raise DataError(f"{' '.join(unmatched)} matches nothing that was asked", key="--select")
        explained = {} if self.progress.interrupted else dict(self._explain(tally))
        rules = {} if self.progress.interrupted else dict(self._rules_of_cases(tally))
        summary = Summary(self._names(), tally, explained, models, self._notes(tally), rules, self._like(tally))
        run, refusal = self._as_run(tally)
        self._write(summary, run)
        say(describe_comparison(summary, self.show))
        if known := [result.case.id for result in run.results if result.verdict is Verdict.KNOWN_FAILURE]:
            click.echo(visible(f"known, so not a failure: {', '.join(known)}"))
        if refusal:
            raise refusal
        return self._status(tally, run)

    def _refuse_what_cannot_be(self) -> None:
        for file in self.reports:
            if file.suffix not in (".ndjson", ".md", ".xml"):
                message = "does not say by its suffix what to write; give .ndjson, .md or .xml"
                raise DataError(message, str(file), key="--report")
        if self.files and self._recordings:
            raise click.UsageError(
                "FILES need two implementations; with a recording, the texts are those of the recording"
            )
        if self.a == self.b and self.model_b is None:
            raise click.UsageError("this compares a side with itself; name another one, or give --model twice")
        if self.adds and (without := [each for each in self._recordings if each.header.special_tokens == "not added"]):
            message = "was recorded without --add-special-tokens; record it with that, or leave it out here"
            raise DataError(message, without[0].name)
        if self.model_b and self.sides[1].recording:
            raise DataError("is for an implementation, and B is a recording, which has its model", key="--model")
        if self.model_b and not (self.model or self.sides[0].recording):
            raise DataError("needs --model FILE, the model of A", key="--model-b")
        if self.model and all(side.recording for side in self.sides):
            raise DataError("is for an implementation, and both sides are recordings", key="--model")
        if self.files and self.model is None:
            raise click.UsageError("FILES need --model FILE")
        if self.only_files and not self.files:
            raise click.UsageError("--only-files needs FILES")
        if self.ids_alone and self.model is None and not self._recordings:
            raise click.UsageError("--ids needs --model FILE: the suite's cases are compared as they are")
        if any(not file.strip() for file in self.files):
            raise click.UsageError("one of FILES is blank; name it, or leave it out")
        if self.address is not None and self.engine == "local":
            raise DataError("is for --engine dask or ray", key="--address")
        named = {f"--report {file}": file for file in self.reports}
        refuse_outputs(
            {**named, "--junit": self.junit_file, "--known-failures": self.ratchet.file},
            {
                "A": files_of_implementation(self.a),
                "B": files_of_implementation(self.b),
                "--model": files_of_model(self.model, self.format),
                "--model-b": files_of_model(self.model_b, self.format_b),
                "FILES": files_of_texts(self.files),
            },
        )
        for recording in self._recordings:
            if recording.header.special_tokens == PER_LINE:
                message = "encodes some lines with special tokens or in pairs; judge by it with tokspec run --pack"
                raise DataError(message, recording.name)

    @cached_property
    def sides(self) -> tuple[Side, Side]:
        """A and B as they are named; the suite's own implementations adopt the choices of the other side."""
        a, b = parse_side(self.a), parse_side(self.b)
        return a, b

    @cached_property
    def _recordings(self) -> list[Recording]:
        return [side.recording for side in self.sides if side.recording]

    @cached_property
    def own(self) -> tuple[UserModel | None, UserModel | None]:
        """The models of A and B: those that are given, or the model of a recording on the other side."""
        given = read_user_model(self.model, self.format) if self.model else None
        other = read_user_model(self.model_b, self.format_b) if self.model_b else given
        models = []
        for side, model in zip(self.sides, (given, other), strict=True):
            is_missing = model is None and side.recording is None and self._recordings
            models.append(find_model(self._recordings[0], may_differ=True) if is_missing else model)
        return models[0], models[1]

    @cached_property
    def with_added(self) -> bool:
        """Whether encodings contain what a post-processor adds; a recording decides this, if there is one."""
        return self.adds or any(each.header.special_tokens == "added" for each in self._recordings)

    @cached_property
    def sessions(self) -> tuple[Session | None, Session | None]:
        """Sessions with the sides that are not recordings."""
        if click.get_current_context().meta.get("tokspec.owns_process"):
            adopt_orphans()
        opened: list[Session | None] = [self._open(side) for side in self.sides]
        held = parse_choices(self.choices)
        for index, side in enumerate(self.sides):
            other = opened[1 - index]
            if other is not None and (taken := choices_for(side, other.hello, held)):
                opened[index] = self._open(replace(side, choices=taken))
        return opened[0], opened[1]

    def _open(self, side: Side) -> Session | None:
        if side.recording:
            return None
        return self.stack.enter_context(open_side(side, self.limits))

    @cached_property
    def askers(self) -> tuple[Asker | Recording | None, Asker | Recording | None]:
        """The sides in the form that answers about texts; None for an implementation without a model."""
        found: list[Asker | Recording | None] = []
        stream = stream_options([each.hello for each in self.sessions if each]) if self._streams else None
        for side, session, model in zip(self.sides, self.sessions, self.own, strict=True):
            if session is not None and model is not None:
                asker = Asker(session, model, adds=self.with_added, stream=stream, ids_alone=self.ids_alone)
                found.append(asker)
            else:
                found.append(side.recording and replace(side.recording, ids_alone=self.ids_alone))
        return found[0], found[1]

    def _models(self) -> list[str]:
        """Say what changed in the models."""
        a, b = self.own
        lines = []
        if len({recording.header.special_tokens for recording in self._recordings}) > 1:
            said = " and ".join(f"{each.header.special_tokens} in {each.name}" for each in self._recordings)
            lines.append(f"special tokens of a post-processor: {said}")
        if a and b and not self._recordings:
            return lines + ([] if a.sha256 == b.sha256 else compare_models(*parts_of_two(a, b)))
        summaries = [
            side.recording.header.model if side.recording else summarize(model) if model else None
            for side, model in zip(self.sides, (a, b), strict=True)
        ]
        if summaries[0] and summaries[1]:
            lines += compare_summaries(summaries[0], summaries[1])
        return lines

    # Comparing

    def _compare_here(self, tally: Tally) -> None:
        """Compare texts in this process, or cases if there is no model for texts; an interruption ends this part."""
        try:
            self._compare_texts(tally)
        except KeyboardInterrupt as interruption:
            if type(interruption) is not KeyboardInterrupt:  # a signal to end, not to report what there is
                raise
            self.progress.interrupted = True
            self.notes.append("interrupted: the rest is not compared")

    def _compare_texts(self, tally: Tally) -> None:
        a, b = self.sessions
        one, other = self.askers
        for asker in (one, other):
            if isinstance(asker, Asker):
                asker.check_model()
        if a is not None and b is not None and not (one and other):
            questions = (question for case in load_suite().cases.values() for question in case.questions)
            cases = [each for each in questions if self._is_wanted(f"{each.operation}/cases")]
            with ProgressBar("comparing cases", len(cases)) as advance:
                tally.add(compare_cases(a, b, cases, advance))
        if one is None or other is None:
            return
        if isinstance(one, Asker) and isinstance(other, Asker):
            one.drop_missing_stages()
            with ProgressBar("making texts of the vocabulary", None):
                inputs = default_inputs(one, self.made, other=other.model)
            with ProgressBar("comparing texts", len(inputs), expected=0.0) as bar:
                compare_texts(one, other, inputs, tally, self._is_wanted, lambda number: bar(by=number))
        else:
            with ProgressBar("comparing texts", self._recordings[0].count, expected=0.0) as bar:
                compare_records(one, other, (), self._is_wanted, bar, tally)

    def _is_wanted(self, name: str) -> bool:
        if name not in self._wanted:
            operation, _, section = name.partition("/")
            names = (name, operation, section)
            found = [pattern for pattern in self.patterns if any(fnmatchcase(each, pattern) for each in names)]
            self._matched.update(found)
            self._wanted[name] = not self.patterns or bool(found)
        return self._wanted[name]

    @cached_property
    def _wanted(self) -> dict[str, bool]:
        """Whether each operation and section that came up until now is compared."""
        return {}

    @cached_property
    def _matched(self) -> set[str]:
        """The patterns that matched an operation or a section."""
        return set()

    @property
    def _streams(self) -> bool:
        """Whether streams are compared, which they are only if a pattern names them."""
        return any(fnmatchcase("decode_stream", pattern.partition("/")[0]) for pattern in self.patterns)

    def _compare_files(self, models: Sequence[str]) -> Tally:
        """Compare how both sides encode the texts of files, unit by unit."""
        a, b = self.own
        if a is None or b is None:
            raise click.UsageError("FILES need --model FILE")
        streams = not self._is_wanted("encode/inputs")
        self._is_wanted("decode_stream/inputs")
        if streams and not self._streams:
            raise DataError("FILES are compared by encode, or by decode_stream; select one", key="--select")
        held = parse_choices(self.choices)
        sides, loaded, compared = describe_sides(
            self.sides, (a, b), self.limits, held, adds=self.with_added, streams=streams
        )
        limits = {name: getattr(self.limits, name) for name in ("case_seconds", "start_seconds", "memory_mb")}
        reading = Reading(self.kind, self.field, self.sample)
        header = Header((sides[0], sides[1]), compared, reading, str(Path.cwd()), limits)
        units = cut_into_units(header, self.files, max(1, int(self.unit_mb * _MEGABYTE)), self.output)
        with lock_folder(self.output):
            prepare_folder(self.output, header, units, loaded)
            self._run_units(units)
            tally = sum_results(self.output, units)
            left = len(units) - len(find_done(self.output, units))
        if left:
            self.notes.append(f"done: {len(units) - left:,} of {count(len(units), 'unit')}; the same command continues")
        return tally

    def _run_units(self, units: Sequence[Unit]) -> None:
        done = find_done(self.output, units)
        if done:
            taken = f"{len(done):,} of {count(len(units), 'unit')} compared earlier"
            self.notes.append(f"reused from {self.output}: {taken}; remove the folder to compare again")
        if len(done) == len(units):
            return
        engine = ENGINES[self.engine](self.jobs or count_processors(), self.address)
        size = sum(unit.bytes for unit in units if unit.id not in done)
        with ProgressBar("comparing files (bytes)", size) as advance:
            found = run_units(self.output, units, engine, lambda unit, _: advance(by=unit.bytes))
        self.progress.faults.extend(found.faults)
        self.progress.interrupted = found.interrupted

    @cached_property
    def notes(self) -> list[str]:
        """Lines about the parts that were not done."""
        return []

    def _notes(self, tally: Tally) -> list[str]:
        notes = list(self.notes)
        if not self.only_files and all(self.own) and not self._recordings and self.own[0] is not self.own[1]:
            notes.append(
                "texts are made from the tokens that have the same id in both models, "
                "without those that are special in only one"
            )
        for letter, model in zip("AB", dict.fromkeys(self.own), strict=False):
            who = f" of {letter}" if all(self.own) and self.own[0] is not self.own[1] else ""
            notes += [f"the model{who}: {caution}" for caution in (cautions_of(model) if model else ())]
        if not self.files and None in self.askers:
            notes.append("no texts were compared; give --model FILE, with a tokenizer.json of yours, to do so")
        for side, session, model in zip(self.sides, self.sessions, self.own, strict=True):
            if self.with_added and session and "add_special_tokens" not in session.hello.encode_options:
                notes.append(f"{side.name} is used as it is: it decides itself whether to add special tokens")
                continue
            gets = model.rewritten_for(session.hello.formats) if session and model else ""
            if gets == CONVERTED and self.with_added:
                notes.append(f"{side.name} gets {gets}, and without its post-processor")
            elif gets and gets != CONVERTED:
                notes.append(f"{side.name} gets {gets}")
        if tally.different and self._recordings and all(self.askers):
            notes += self._other_choices()
        return notes

    def _other_choices(self) -> Iterator[str]:
        """Name the choices about the model that the sides declare differently, which may be why they differ."""
        a, b = self._side_choices
        settings = self._recordings[0].header.model.get("settings", {})
        types = {str(value).lower() for path, value in settings.items() if path.rpartition(".")[2] == "type"}
        found = []
        for name in sorted(a.keys() & b.keys() - {"offset_unit", "bpe_training_tie"}):
            bears = types & _TYPES.get(name.partition("_")[0], types)
            if a[name] != b[name] and (bears or not types):
                found.append(f"{name}: {a[name]} in A, {b[name]} in B")
        if found:
            yield f"declared differently, which may be the reason: {'; '.join(found)}"

    # Reporting

    @cached_property
    def _side_choices(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        found = [
            side.recording.header.choices if side.recording else effective_choices(session.hello) if session else {}
            for side, session in zip(self.sides, self.sessions, strict=True)
        ]
        return found[0], found[1]

    def _names(self) -> tuple[str, str]:
        found = []
        for side, session in zip(self.sides, self.sessions, strict=True):
            if side.recording:
                found.append(f"{side.recording.header.who} as recorded in {side.name}")
                continue
            who = f"{session.hello.name} {session.hello.version}".strip() if session else side.name
            found.append(who if session and side.name == session.hello.name else f"{who} ({side.name})")
        return found[0], found[1]

    def _explain(self, tally: Tally) -> Iterator[tuple[int, Explained]]:
        """Minimize the first causes, and explain them."""
        one, other = self.askers
        (a, b), (model, model_b) = self.sessions, self.own
        if not (isinstance(one, Asker) and isinstance(other, Asker) and a and b and model and model_b):
            if self.saved and self._recordings:
                self.notes.append("no cases were saved: a recording cannot answer again; name two implementations")
            elif self.saved:
                self.notes.append("no cases were saved: the suite's own cases show everything that was compared")
            return
        units = (unit_of(one), unit_of(other))
        asked = (one.options, other.options)
        minimizer = Minimizer((a, b), (model, model_b), units, asked, ids_alone=self.ids_alone)
        most = self._explained_causes
        with ProgressBar("minimizing causes", min(most, len(tally.groups))) as advance:
            for number, group in enumerate(tally.causes[:most]):
                small = None if number in self._like(tally) or _is_of_a_case(group) else minimizer.minimize(group)
                if isinstance(small, Small):
                    yield number, explain(small, self._side_choices, (a.hello, b.hello), minimizer.agree)
                advance()

    def _like(self, tally: Tally) -> dict[int, int]:
        """Map causes that repeat an earlier one at another kind of character to that one, unless cases are saved."""
        first: dict[tuple[str, str], int] = {}
        found = {}
        for number, group in enumerate(() if self.saved else tally.causes):
            # if the models have different normalizers, the cause is the same whatever they do to a text
            is_told = group.cause.operation == "normalize" and self.own[0] is not self.own[1]
            key = (group.cause.operation, "" if is_told else group.cause.what)
            if first.setdefault(key, number) != number:
                found[number] = first[key]
        return found

    def _rules_of_cases(self, tally: Tally) -> Iterator[tuple[int, str]]:
        """For each of the first causes that a case shows, say which sides deviate from the case."""
        a, b = self.sessions
        if a is None or b is None or not any(map(_is_of_a_case, tally.groups.values())):
            return
        questions = {question.id: question for case in load_suite().cases.values() for question in case.questions}
        for number, group in enumerate(tally.causes[: self._explained_causes]):
            if _is_of_a_case(group):
                case = questions[group.example.place.removeprefix("case ")]
                leaving = []
                for side, session, choices in zip("AB", (a, b), self._side_choices, strict=True):
                    ((_, reply),) = session.ask([make_request(case)])
                    if not judge(case, check_form(case.operation, reply), session.hello, choices).verdict.conforms:
                        leaving.append(side)
                who = f"{' and '.join(leaving)} leave{'s' * (len(leaving) == 1)} it" if leaving else "allows both"
                yield number, f"{case.clauses[0]}: {who}"

    @property
    def _explained_causes(self) -> int:
        """How many causes are minimized."""
        return max(self.show, _MINIMIZED) if self.saved or self.reports else self.show

    def _as_run(self, tally: Tally) -> tuple[Run, DataError | None]:
        """Return the comparison as a run of B judged by A, with the known failures applied.

        The error says why the known failures were not rewritten if they should have been.
        """
        session = self.sessions[1]
        hello = session.hello if session else self._recordings[-1].header.hello
        problems = [str(fault) for each in self.sessions if each for fault in each.unblamed]
        problems += [f"{fault}; no text is to blame" for fault in tally.faults]
        self.stack.close()
        problems += [problem for each in self.sessions if each for problem in end_problems(each)]
        run = make_run(tally, hello, self._side_choices[1], self._names()[0], problems, self.a)
        known = self.ratchet.known
        names = {*tally.sections, *(name for name in known.entries if not self._is_wanted(name))}
        if self.ratchet.update:
            rewritten, refusal = self.ratchet.rewritten(run, names)
            return apply_known(run, rewritten), refusal
        return with_problems(apply_known(run, known), (*known.unsupported(run.results), *known.stale(names))), None

    def _write(self, summary: Summary, run: Run) -> None:
        again = self._again()
        if self.reports or self.junit_file:
            self._write_reports(summary, run, again)
        groups = summary.tally.causes
        unsaved = Counter[str]()
        for number, group in enumerate(groups[: self._explained_causes] if self.saved and summary.explained else ()):
            explained = summary.explained.get(number)
            try:
                case = self.saved and explained and save(explained, self.saved, summary.names, group.example.place)
            except FileExistsError as error:
                click.echo(visible(f"already exists, and is left as it is: {error.filename}"))
                continue
            if case:
                click.echo(visible(f"wrote {case}"))
            else:
                unsaved[_why_unsaved(group, explained)] += 1
        for why, number in unsaved.items():
            click.echo(visible(f"not saved: {count(number, 'cause')}: {why}"))
        for fault in dict.fromkeys(self.progress.faults):
            click.echo(visible(f"not done: {fault}"), err=True)
        if advice := self.ratchet.advice(run, again):
            click.echo(advice)

    def _write_reports(self, summary: Summary, run: Run, again: str) -> None:
        came_from = origin(click.get_current_context().find_root().obj or "", again, load_suite().hash)
        for file in (*self.reports, *([self.junit_file] if self.junit_file else [])):
            if file.suffix == ".md":
                write_whole(file, markdown(summary))
            elif file.suffix == ".ndjson" and file != self.junit_file:
                write_whole(file, b"".join(ndjson(run, came_from)))
            else:
                from tokspec.report.junit import junit  # here, because most comparisons need no XML

                write_whole(file, junit([(came_from, run)]))

    def _again(self) -> str:
        """Return the command that compares in the same way, without the selection."""
        words = ["tokspec", "diff", self.a, self.b, *self.files]
        for option, value in (("--model", self.model), ("--model", self.model_b), ("--format", self.format)):
            words += [option, str(value)] if value else []
        words += ["--format", self.format_b] if self.format_b and self.format_b != self.format else []
        chosen = {"--ids": self.ids_alone, "--only-files": self.only_files, "--add-special-tokens": self.adds}
        words += [option for option, is_given in chosen.items() if is_given]
        return shlex.join(words) + self.ratchet.arguments()

    def _status(self, tally: Tally, run: Run) -> int:
        if self.progress.interrupted:
            click.echo(f"interrupted{'; the same command continues' * bool(self.files)}", err=True)
            return 2
        is_nothing = not tally.compared or not (tally.answered or tally.different)
        if self.progress.faults or tally.bad or is_nothing:
            return 2
        return 0 if run.is_green else 1


def _is_of_a_case(group: Group) -> bool:
    return group.example.place.startswith("case ")


def _why_unsaved(group: Group, explained: Explained | None) -> str:
    """Say why a cause was not saved as a case."""
    if _is_of_a_case(group):
        return "the suite's own cases show it already"
    if explained is None:
        return "its shortest text alone does not show it again"
    if explained.small.model is None:
        return explained.small.why
    return "the reference does not answer"
