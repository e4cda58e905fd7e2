"""Badges: a picture and the JSON that badge services read, for what an implementation came to."""

from __future__ import annotations

from html import escape
from typing import Any

from tokspec.base.display import shorten, visible

#: The colour of a badge by what the share of passing cases shows; the words say the same.
_COLOURS = {"all": "#1a7f4b", "most": "#4d7a16", "some": "#9a6700", "few": "#b3403a", "unasked": "#5c6370"}

_LABEL = "tokspec"


def badge_json(label: str, message: str, level: str) -> dict[str, Any]:
    """Return what an endpoint of a badge service answers.

    >>> badge_json("tokspec", "623/648 asked", "most")["message"]
    '623/648 asked'
    """
    shown = shorten(visible(message), 60)
    return {
        "schemaVersion": 1,
        "label": shorten(visible(label), 60),
        "message": shown,
        "color": _colour(level),
    }


def badge_svg(label: str, message: str, level: str) -> str:
    """Return the picture; its text is its title too."""
    left, right = shorten(visible(label), 60), shorten(visible(message), 60)
    widths = [10 + round(6.6 * len(text)) for text in (left, right)]
    total = sum(widths)
    name = escape(f"{left}: {right}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total}" height="20" role="img" aria-label="{name}">'
        f"<title>{name}</title>"
        f'<rect width="{total}" height="20" rx="3" fill="#333a44"/>'
        f'<rect x="{widths[0]}" width="{widths[1]}" height="20" rx="3" fill="{_colour(level)}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{widths[0] / 2}" y="14">{escape(left)}</text>'
        f'<text x="{widths[0] + widths[1] / 2}" y="14">{escape(right)}</text></g></svg>\n'
    )


def _colour(level: str) -> str:
    """Return the colour of a level; a badge is no paler where little was asked."""
    return _COLOURS[level.removesuffix(" little")]
