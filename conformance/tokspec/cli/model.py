"""``tokspec model``: write the models of the fixtures as files, and read files as models for fixtures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from tokspec.adapters.reference import ReferenceAdapter
from tokspec.base.display import compact
from tokspec.base.errors import DataError, Refusal, Unsupported
from tokspec.base.json_values import encode_line
from tokspec.cli.options import FILE, files_of_fixtures, fixtures_option, refuse_outputs
from tokspec.formats import FORMATS, READERS, read, write
from tokspec.formats.files import beside, without
from tokspec.formats.on_disk import content_of, format_of, on_the_disk, save
from tokspec.formats.tiktoken_ranks import stages_of
from tokspec.suite.cases import Suite
from tokspec.suite.fixtures import load_suite

_formats = click.Choice([*dict.fromkeys((*FORMATS, *READERS))])


@click.command("model", short_help="Write the model of a case to a file, or read one.")
@click.argument("name", metavar="CASE", required=False)
@click.option("--format", type=_formats, help="Format of the model; with --read, the default depends on the file name.")
@click.option("-o", "--output", type=FILE, metavar="FILE", help="File or folder to write the model to.")
@click.option("--read", "source", type=FILE, metavar="FILE", help="Read a model from this file, and print it as YAML.")
@fixtures_option
def model_command(
    name: str | None, format: str | None, output: Path | None, source: Path | None, fixtures: Path | None
) -> None:
    """Write the model of a case in a format, or read a model from a file.

    CASE is the id of the case or the name of the model. Without -o, the content is printed as JSON, as an adapter
    receives it. If a format consists of several files, they are written to a folder.
    """
    if (name is None) == (source is None):
        raise click.UsageError("give a CASE to write its model, or --read FILE to read one")
    if source is not None:
        if output is not None:
            raise click.UsageError("--read prints, and -o is for a CASE")
        click.echo("\n".join(_yaml(_read(format, source))))
    elif name is not None:
        chosen = format or "tokspec"
        names = chosen.split("+") if output else []
        written = {f"--output {each}": Path(output or "", each) for each in names} if len(names) > 1 else None
        refuse_outputs(written or {"--output": output}, {"--fixtures": files_of_fixtures(fixtures)})
        _write(name, _model(load_suite(fixtures), name), chosen, output)


def _read(format: str | None, source: Path) -> dict[str, Any]:
    chosen = format or format_of(source)
    content = content_of(chosen, source)
    try:
        model = read(chosen, content)
    except DataError as error:
        raise on_the_disk(error, chosen, source) from None
    refusal = _refusal(model)
    if refusal is not None:
        refused = DataError(f"is {refusal.reason}: {refusal.message}", key=_refused_key(content, model))
        raise on_the_disk(refused, chosen, source)
    if not model.get("vocabulary", True):
        raise DataError("is empty; a model has tokens", str(source))
    return model


def _refusal(model: Mapping[str, Any]) -> Refusal | None:
    try:
        ReferenceAdapter().load("tokspec", model)
    except Refusal as refusal:
        return refusal
    return None


def _refused_key(content: Any, model: Mapping[str, Any]) -> str:
    """Return the key of ``beside`` because of which a content's model is refused; empty if there is another reason."""
    told = beside(content) if isinstance(content, Mapping) and "files" in content else {}
    if "pattern" in told and _refusal({"type": "bpe", **stages_of(told["pattern"])}):
        return "beside.pattern"
    if "special_tokens" in told and not _refusal(without(model, "special_tokens", "added_tokens")):
        return "beside.special_tokens"
    return next((f"beside.{key}" for key in told if key in model and _refusal({"type": "bpe", key: model[key]})), "")


def _yaml(model: Mapping[str, Any]) -> Iterator[str]:
    """Write each key on a line, with its value in the form that YAML shares with JSON."""
    for key, value in model.items():
        yield f"{key}: {compact(value)}"


def _model(suite: Suite, name: str) -> Mapping[str, Any]:
    models = {case.model.name: case.model for case in suite.cases.values()}
    models |= {case.id: case.model for case in suite.cases.values()}
    if name not in models:
        near = get_close_matches(name, models, 3)
        hint = f"did you mean {', '.join(near)}?" if near else "`tokspec cases` lists them"
        raise DataError(f"{name!r} is neither a case nor a model; {hint}")
    return models[name].content


def _write(name: str, content: Mapping[str, Any], format: str, output: Path | None) -> None:
    try:
        written = write(format, content)
    except Unsupported as refusal:
        raise DataError(f"cannot be written: {refusal.message}", name) from None
    if output is None:
        click.echo(encode_line(written), nl=False)
        return
    save(format, written, output)
    told = written.get("beside") if "files" in written else None
    if told:
        click.echo(f"{output}: the file does not contain this, so tell its loader: {compact(told)}", err=True)
