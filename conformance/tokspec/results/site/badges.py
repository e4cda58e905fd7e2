"""Badges: a picture, and JSON for badge services, with the result of an implementation."""

from __future__ import annotations

from html import escape
from typing import Any

from tokspec.base.display import shorten, visible

#: The color of a badge by the share of passing cases; the text says the same.
_COLOURS = {"all": "#1a7f4b", "most": "#4d7a16", "some": "#9a6700", "few": "#b3403a", "unasked": "#5c6370"}

_LABEL = "tokspec"


def badge_json(label: str, message: str, level: str) -> dict[str, Any]:
    """Return the JSON that a badge service reads from an endpoint.

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
    """Return the picture as SVG; its text is also its title."""
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
    """Return the color of a level; a badge is not paler if few cases were run."""
    return _COLOURS[level.removesuffix(" little")]
