"""Fuzzing: comparing an implementation with an oracle on models and inputs that Hypothesis draws.

The flow of data: strategies draw a model with all its requests (``components``, ``families``, ``strategies``), both
sides answer (``checker``, ``tolerance``), a difference is shrunk and set aside (``campaign``), assigned to its clauses
(``clauses``), excused by known failures (``findings``), shown (``display``) and saved (``saving``). For a single
pattern, ``lexing`` tries all short texts instead, with the characters that ``pattern_classes`` finds.
"""

from __future__ import annotations
