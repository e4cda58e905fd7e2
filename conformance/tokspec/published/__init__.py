"""Adapters of published libraries for Python, a module each, with their known failures next to it."""
