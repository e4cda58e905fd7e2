"""Tests of the suite itself, for ``tokspec dev``: coverage, cases passed by chance, mutants, printed numbers."""
