"""Fuzzing: an implementation and an oracle on generated models and inputs, and what is left of their differences.

The data's way: a seed makes a model and what it is asked (``models``, ``texts``, ``corpora``, ``requests``), a session
and the oracle answer (``oracle``), what differs is shrunk (``shrink``), given its clause (``clauses``), grouped
(``campaign``), shown (``display``) and saved as a fixture (``saving``). ``properties`` need no oracle.
"""

from __future__ import annotations
