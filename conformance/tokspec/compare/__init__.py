"""Comparing two sides, A and B: each an implementation, in this or another environment, a program or a recording.

The package asks both about the suite's cases, its texts (``named_texts``), texts made of the vocabulary (``texts``) and
files of any size (``inputs``). It compares the answers (``compare``), counts the differences and groups them by cause
(``tally``, ``causes``). An engine (``engines``) processes files in units (``units``), in separate processes
(``worker``), so that an implementation that misbehaves costs no more than one text. Then the package minimizes the text
and the model of each cause (``minimize``; ``shrink`` does this for plain values, and for fuzzing too), and shows it
(``report``) or saves it as a case (``saving``). A ``recording`` holds what a side answered once. ``history`` compares
the releases of a library.
"""
