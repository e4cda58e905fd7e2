"""The texts of a pack: the suite's own, those made of the vocabulary, and the user's."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from tokspec.packs.asking import Asker, batches
from tokspec.packs.notation import write_value
from tokspec.packs.record import Input
from tokspec.packs.summary import Parts
from tokspec.packs.vocabulary import MADE, of_special_tokens, of_vocabulary
from tokspec.protocol.messages import Answer
from tokspec.records import FIELD, BadRecord, read_records
from tokspec.texts import load_texts

__all__ = ["Sources", "all_inputs", "named", "texts_hash"]

#: Bytes of the longest text that is taken from a file: answers to longer ones are longer than a session takes.
LARGEST = 64 * 1024


@dataclass(frozen=True)
class Sources:
    """Where texts come from: files, as what they are read, the field in which the text is, and how many are made.

    ``bad`` is told of what is no text.
    """

    files: Sequence[Path] = ()
    kind: str | None = None
    field: str = FIELD
    made: int = MADE
    vocabulary: bool = True
    bad: Callable[[BadRecord], None] = print


def texts_hash() -> str:
    """Return the hash of the suite's own texts.

    >>> len(texts_hash())
    64
    """
    lines = (write_value([text.id, text.text]) for text in load_texts())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def all_inputs(asker: Asker, parts: Parts, sources: Sources) -> Iterator[Input]:
    """Return every text, in the order of the pack; what tokens stand for is asked of the implementation."""
    return chain(
        (Input(f"texts/{text.category}", text.name, text.text) for text in load_texts()),
        of_special_tokens(list(parts.special.values())),
        of_vocabulary(_decoded(asker, parts.vocabulary), sources.made) if sources.vocabulary else (),
        _of_files(sources),
    )


def named(files: Sequence[Path]) -> dict[str, Path]:
    """Return each file a name that says nothing of the machine: its own, and a number where two have the same.

    >>> list(named([Path("a/x.txt"), Path("b/x.txt")]))
    ['x.txt', 'x.txt#2']
    """
    found: dict[str, Path] = {}
    for file in files:
        name, number = file.name, 1
        while name in found:
            number += 1
            name = f"{file.name}#{number}"
        found[name] = file
    return found


def _decoded(asker: Asker, vocabulary: Mapping[int, str]) -> dict[int, str]:
    """Return the text that each token stands for, or the token itself where it is a part of a character or no text."""
    texts: dict[int, str] = {}
    for batch in batches(vocabulary.items(), 1024):
        asked = [("decode", {"ids": [id]}) for id, _ in batch]
        for (id, token), reply in zip(batch, asker.replies(asked), strict=True):
            text = reply.result.get("text") if isinstance(reply, Answer) else None
            texts[id] = text if isinstance(text, str) and text and "\ufffd" not in text else token
    return texts


def _of_files(sources: Sources) -> Iterator[Input]:
    for name, file in named(sources.files).items():
        for record in read_records(file, sources.kind, sources.field, name=name, largest=LARGEST):
            if isinstance(record, BadRecord):
                sources.bad(record)
            else:
                yield Input(f"inputs/{name}", str(record.number), record.text)
