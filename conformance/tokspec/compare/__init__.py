"""Comparing two sides, called A and B: an implementation, a program, one in another environment, or a recording.

The package asks both about the suite's cases, its texts (``named_texts``), texts made of the vocabulary (``texts``) and
files of any size (``inputs``). It compares the answers (``compare``), counts the differences and groups them by cause
(``tally``, ``causes``). An engine (``engines``) does files in units (``units``), in separate processes (``worker``), so
that nothing an implementation does costs more than one text. Then the package makes each cause small, in its text and
in its model (``minimize``; ``shrink`` does it for plain values, and for fuzzing too), and shows it (``report``) or
saves it as a case (``saving``). A ``recording`` is what a side answered once. ``history`` compares the releases of a
library.
"""
