"""Sweeping: two implementations over a corpus of any size, and the causes of their differences.

The data's way: inputs are found (``opening``) and cut into units (``plan``); an engine (``engines``) gives each unit to
a worker (``worker``), which has it done by a process of its own (``cell``), so that whatever an implementation does to
its process costs one document; the cell reads ``documents``, asks both ``sides``, counts (``counting``, ``tally``) and
makes differences small (``narrow``); the result of a unit is a file that is written whole or not at all (``results``).
What all units found is put together, explained (``causes``) and shown (``report``).
"""

from __future__ import annotations
