"""``tokspec dev versions``: the environments of releases that implementations were named by."""

from __future__ import annotations

import click

from tokspec.adapters.versions import MOST, cache_folder, clear, environments


@click.command("versions", short_help="List the environments of releases, or remove them.")
@click.option("--clear", "is_cleared", is_flag=True, help="Remove them all; each is made again when it is named.")
def versions_command(is_cleared: bool) -> int:
    """Print the environments that were made for NAME==VERSION, the most recently used first."""
    if is_cleared:
        number = clear()
        click.echo(f"removed {number} environment{'s'[: number != 1]}")
        return 0
    there = environments()
    for each in there:
        click.echo(each.name)
    click.echo(f"{len(there)} of at most {MOST} in {cache_folder()}")
    return 0
