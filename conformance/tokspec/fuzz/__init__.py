"""Fuzzing: an implementation and an oracle on models and inputs that Hypothesis draws, and what is left of differences.

The data's way: strategies draw a model with all that it is asked (``components``, ``families``, ``strategies``), both
sides answer (``checker``, ``tolerance``), what differs is shrunk and set aside (``campaign``), given its
clauses (``clauses``), excused by known failures (``findings``), shown (``display``) and saved (``saving``). For one
pattern ``lexing`` asks all short texts instead, of the characters that ``pattern_classes`` finds.
"""

from __future__ import annotations
