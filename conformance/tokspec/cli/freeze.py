"""``tokspec freeze``: record what an implementation answers with a model of one's own."""

from __future__ import annotations

from pathlib import Path

import click

from tokspec.base.display import visible
from tokspec.base.errors import AdapterFault, DataError
from tokspec.cli.options import Target, implementation_options
from tokspec.cli.own import opened, source_options
from tokspec.cli.progress import ProgressBar
from tokspec.formats import READERS
from tokspec.formats.user_model import read_user_model
from tokspec.packs.asking import Asker, may_be_wanted
from tokspec.packs.freezing import Trouble, header_of, recorded
from tokspec.packs.inputs import Sources, all_inputs
from tokspec.packs.summary import parts_of
from tokspec.packs.writing import Written, write_pack

__all__ = ["freeze_command"]

_path = click.Path(path_type=Path)

#: Bytes from which on a pack is better compressed.
_LARGE = 32 * 1024 * 1024


@click.command("freeze", short_help="Record what an implementation answers with your model.")
@implementation_options
@click.option(
    "--model", "model", type=_path, required=True, metavar="FILE", help="The model: tokenizer.json or another."
)
@click.option("--format", "format", type=click.Choice(list(READERS)), help="Its format; its name says it unless given.")
@source_options
@click.option("--add-special-tokens", "adds", is_flag=True, help="Record encodings with what a post-processor adds.")
@click.option("-o", "--output", type=_path, required=True, metavar="PACK", help="Compressed if it ends in .gz.")
def freeze_command(target: Target, model: Path, format: str | None, sources: Sources, adds: bool, output: Path) -> int:
    """Record what an implementation answers with a model of yours, so that others can be held to it.

    \b
    tokspec freeze --impl tokenizers --model tokenizer.json -o pack.yaml
    tokspec freeze --impl tokenizers --model tokenizer.json --inputs texts.jsonl --field body -o pack.yaml.gz

    The texts are the suite's own, some made of the vocabulary, and yours. The same is recorded as the same bytes.
    """
    _refuse_what_cannot_be(target, model, sources, adds, output)
    own = read_user_model(model, format)
    trouble = Trouble()
    try:
        with opened(target) as session:
            asker = Asker(session, own, adds=adds)
            left_out = asker.leave_out()
            with ProgressBar("freezing", None) as advance:
                inputs = all_inputs(asker, parts_of(own), sources)
                header = header_of(asker, own, sources, adds=adds)
                done = write_pack(output, header, recorded(asker, inputs, trouble, advance))
    except AdapterFault as fault:
        raise target.unusable(fault) from None
    for operation, reason in left_out.items():
        click.echo(visible(f"not asked: {operation}: {reason}"))
    _say(f"{asker.hello.name} {asker.hello.version}", own.name, done, trouble, output)
    return 0


def _refuse_what_cannot_be(target: Target, model: Path, sources: Sources, adds: bool, output: Path) -> None:
    """Refuse what would cost the user a file, or would be noticed only when all is done."""
    if output.is_dir():
        raise DataError("is a folder; give the name of the pack in it", str(output), key="--output")
    for option, files in (("--model", [model]), ("--inputs", sources.files)):
        if output.is_file() and any(file.exists() and file.samefile(output) for file in files):
            raise DataError(f"is what {option} names, and would be replaced; give another", str(output), key="--output")
    if adds and not may_be_wanted(target.impl):
        message = "adds no special tokens of post-processors, as far as its adapter knows"
        raise DataError(f"{message}; leave out --add-special-tokens", key=target.name)


def _say(who: str, model: str, done: Written, trouble: Trouble, output: Path) -> None:
    for line in trouble.lines:
        click.echo(visible(line), err=True)
    size = output.stat().st_size
    texts = f"{sum(done.counts.values())} texts, {done.tokens} tokens"
    click.echo(visible(f"{output}: what {who} makes of {texts} with {model}; {size / 1e6:.1f} MB"))
    if size > _LARGE and not output.name.endswith(".gz"):
        click.echo(f"a name that ends in .gz makes it smaller: {output}.gz")
