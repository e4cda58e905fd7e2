"""Comparing two sides, called A and B: an implementation, a program, one in another environment, or a recording.

What they answer to the suite's cases, to its texts (``named_texts``), to texts made of the vocabulary (``texts``) and
to files of any size (``inputs``) is compared (``compare``), counted and grouped by cause (``tally``, ``causes``). Files
are cut into units (``units``), each done in a process of its own (``worker``) by an engine (``engines``), so that
nothing that an implementation does costs more than one text. Then each cause is made small, in its text and in its
model (``minimize``; ``shrink`` does it for plain values, and for fuzzing too), and shown (``report``) or saved as a
case (``saving``). A ``recording`` is what a side answered once. ``history`` compares the releases of a library.
"""
