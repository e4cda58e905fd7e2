"""Reading: from plain values, as JSON carries them, to a tokenizer, a corpus, or the target of a training.

Whatever is unknown, of a wrong type or contradicts itself is refused; nothing is skipped in silence. A model is refused
as ``invalid_model``, everything else as ``invalid_input``. A value of None is the same as a missing one. The chapters
import nothing of this package: they work on values that it has found right.

==============  ==================================================
``tokenizers``  a tokenizer, with its added tokens
``models``      the models
``components``  the stages around a model
``inputs``      a corpus, and when a training stops
``shapes``      what the others share: strings, lists, numbers
``ceilings``    what asks for very much by a small input
==============  ==================================================
"""

from tokref.reading.inputs import read_target, read_words
from tokref.reading.shapes import (
    LARGEST_INTEGER,
    read_boolean,
    read_integer,
    read_list,
    read_mapping,
    read_number,
    read_text,
)
from tokref.reading.tokenizers import from_mapping

__all__ = [
    "LARGEST_INTEGER",
    "from_mapping",
    "read_boolean",
    "read_integer",
    "read_list",
    "read_mapping",
    "read_number",
    "read_target",
    "read_text",
    "read_words",
]
