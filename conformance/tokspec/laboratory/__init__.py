"""Fuzzing, comparison, the matrix, the site, and what the suite says of itself: all that does more than judge.

The core, which is everything beside it but ``published`` and ``testing``, knows nothing of it: its commands, the page
of a run and its fixture of pytest are announced as entry points.
"""
