"""``tokspec dev versions``: list or remove the environments that were created for releases."""

from __future__ import annotations

import click

from tokspec.adapters.versions import MOST, cache_folder, clear, environments


@click.command("versions", short_help="List the environments of releases, or remove them.")
@click.option("--clear", "is_cleared", is_flag=True, help="Remove all of them. Each is built again when you name it.")
def versions_command(is_cleared: bool) -> int:
    """List the environments that were built for NAME==VERSION, the most recently used first."""
    if is_cleared:
        number = clear()
        click.echo(f"removed {number} environment{'s'[: number != 1]}")
        return 0
    there = environments()
    for each in there:
        click.echo(each.name)
    click.echo(f"{len(there)} of at most {MOST} in {cache_folder()}")
    return 0
