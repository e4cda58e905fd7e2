"""Implementations in Python that the suite can judge without a process of their own."""
