"""``tokspec record``: record the answers of an implementation with a model of the user's."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import click

from tokspec.base.display import visible
from tokspec.base.errors import DataError
from tokspec.cli.options import (
    COUNT,
    FILE,
    Command,
    add_options,
    files_of_implementation,
    limits_options,
    refuse_outputs,
)
from tokspec.cli.progress import ProgressBar
from tokspec.compare.answers import Asker, answer
from tokspec.compare.compare import Unanswered, default_inputs, file_inputs
from tokspec.compare.inputs import FIELD, KINDS, Reading, files_of_texts
from tokspec.compare.recording import header_of, write_records
from tokspec.compare.report import count
from tokspec.compare.sides import open_side, parse_side
from tokspec.compare.tally import Tally
from tokspec.compare.texts import MADE
from tokspec.formats import READERS
from tokspec.formats.cautions import cautions_of
from tokspec.formats.user_model import CONVERTED, files_of_model, read_user_model
from tokspec.judge.judging import end_problems
from tokspec.sessions.limits import Limits
from tokspec.suite.recordings import ENDINGS, Written

#: Bytes of the longest text that is recorded; the answer to a longer text may exceed the longest line.
_LARGEST = 64 * 1024

#: Bytes from which a recording is better compressed.
_LARGE = 32 * 1024 * 1024


_OUTPUT = "Recording to write, compressed if its name ends in .gz."

#: The formats in which a model may be read.
FORMATS = click.Choice(list(READERS))

#: The options for how files are read, and which texts are recorded.
_TEXTS = [
    click.option("--as", "kind", type=click.Choice(KINDS), help="Format of FILES; the default depends on their names."),
    click.option("--field", default=FIELD, show_default=True, help="Field of JSON Lines or column of Parquet to read."),
    click.option("--made", type=COUNT, default=MADE, hidden=True, help="Texts of each kind of tokens."),
    click.option(
        "--add-special-tokens", "adds", is_flag=True, help="Encode with the tokens that a post-processor adds."
    ),
]


def texts_options(command: Command) -> Command:
    """Add the options for how files are read, and which texts are compared or recorded."""
    return add_options(command, _TEXTS)


@click.command("record", short_help="Record what an implementation answers with your model.")
@click.argument("implementation")
@click.argument("files", nargs=-1, metavar="[FILES]...")
@click.option("--model", type=FILE, required=True, metavar="FILE", help="Model to load, such as a tokenizer.json.")
@click.option("--format", type=FORMATS, help="Format of the model; the default depends on its name.")
@texts_options
@click.option("--no-vocabulary", is_flag=True, help="Record no texts made from the vocabulary.")
@limits_options
@click.option("-o", "--output", type=FILE, required=True, metavar="FILE.ndjson", help=_OUTPUT)
def record_command(
    implementation: str,
    files: tuple[str, ...],
    model: Path,
    format: str | None,
    kind: str | None,
    field: str,
    made: int,
    no_vocabulary: bool,
    adds: bool,
    limits: Limits,
    output: Path,
) -> int:
    """Record what IMPLEMENTATION answers with your model, for a later comparison by tokspec diff.

    IMPLEMENTATION is NAME, NAME==VERSION, NAME@ENVIRONMENT, module:object or "PROGRAM ARGS".

    \b
    tokspec record tokenizers --model tokenizer.json -o before.ndjson
    tokspec record tokenizers texts.jsonl --field body --model tokenizer.json -o before.ndjson.gz
    tokspec run --pack before.ndjson --model tokenizer.json --impl "node adapter.mjs"

    The last command judges a port by the recording. Ports in any language can read the file: see docs/packs.md.

    The texts are the suite's own, texts made from the vocabulary, and those of FILES. If the answers are the same, the
    recording has the same bytes.

    Exit status: 0 if everything was recorded, 2 if it was not, if not all of FILES could be read, or if IMPLEMENTATION
    ended unexpectedly.
    """
    _refuse_what_cannot_be(implementation, model, format, files, output)
    side = parse_side(implementation)
    bad, unanswered = Tally(), Unanswered()
    with open_side(side, limits) as session:
        if adds and "add_special_tokens" not in session.hello.encode_options:
            message = "cannot add the special tokens of post-processors; leave out --add-special-tokens"
            raise DataError(message, key=side.name)
        mine = read_user_model(model, format)
        if adds and mine.has_post_processor and mine.rewritten_for(session.hello.formats) == CONVERTED:
            message = f"gets {CONVERTED}, and without its post-processor; leave out --add-special-tokens"
            raise DataError(message, key=side.name)
        for caution in cautions_of(mine):
            click.echo(visible(f"{mine.name}: {caution}"), err=True)
        asker = Asker(session, mine, adds=adds)
        dropped = asker.drop_missing_stages()
        inputs = default_inputs(asker, made, vocabulary=not no_vocabulary)
        texts = file_inputs(files, Reading(kind, field, largest=_LARGEST), bad)
        said = {"made": None if no_vocabulary else made, "files": [Path(file).name for file in files]}
        header = header_of(asker, "added" if adds else "not added", said)
        with ProgressBar("recording", None if files else len(inputs), None if files else 0.0) as advance:
            records = unanswered.watch(answer(asker, chain(inputs, texts), advance))
            written = write_records(output, asker, header, records)
    if (gets := asker.model.rewritten_for(session.hello.formats)) and gets != CONVERTED:
        click.echo(f"{header.who} gets {gets}")
    for operation, reason in dropped.items():
        click.echo(visible(f"not asked: {operation}: {reason}"))
    for line in unanswered.lines:
        click.echo(visible(line), err=True)
    if output.name.endswith(ENDINGS[1]) and mine.has_post_processor and not adds:
        click.echo(
            "the pack lacks the tokens that the post-processor adds, such as BOS; --add-special-tokens adds them"
        )
    _say(header.who, model.name, written, output)
    ended = [f"did not end well: {fault}; no text is to blame" for fault in dict.fromkeys(map(str, asker.unblamed))]
    ended += [f"did not end well: {problem}" for problem in end_problems(session)]
    for line in (*_bad_lines(bad), *ended):
        click.echo(visible(line), err=True)
    return 2 if bad.bad or ended else 0


def _bad_lines(bad: Tally) -> Iterator[str]:
    for number, place, why in bad.bad.values():
        yield f"left out: {count(number, 'record')} without a text, first {place}: {why}"


def _refuse_what_cannot_be(
    implementation: str, model: Path, format: str | None, files: tuple[str, ...], output: Path
) -> None:
    """Refuse arguments that would cost the user a file, or whose fault would show only at the end."""
    if not implementation.strip():
        raise DataError("is empty; name an implementation", key="IMPLEMENTATION")
    if output.is_dir():
        raise DataError("is a folder; give the name of the recording in it", str(output), key="--output")
    if parse_side(implementation).recording is not None:
        raise DataError("is a recording; name an implementation", implementation)
    if not output.name.removesuffix(".gz").endswith(ENDINGS):
        message = f"needs a name that ends in {' or '.join(ENDINGS)}, or in one of them and .gz"
        raise DataError(message, str(output), key="--output")
    refuse_outputs(
        {"--output": output},
        {
            "IMPLEMENTATION": files_of_implementation(implementation),
            "--model": files_of_model(model, format),
            "FILES": files_of_texts(files),
        },
    )


def _say(who: str, model: str, written: Written, output: Path) -> None:
    size = output.stat().st_size
    texts = f"{count(written.records, 'text')}, {count(written.tokens, 'token')}"
    click.echo(visible(f"{output}: {who} with {model}: {texts}; {size / 1e6:.1f} MB"))
    if size > _LARGE and not output.name.endswith(".gz"):
        click.echo(f"a name that ends in .gz makes it smaller: {output}.gz")
