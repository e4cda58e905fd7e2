"""Adapters of implementations that can be loaded in Python; each is run in a process of its own."""
