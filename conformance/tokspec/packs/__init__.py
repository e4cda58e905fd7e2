"""Packs: what an implementation answers to many texts with a model of one's own, recorded to be compared with later.

A pack is evidence of what was, not of what is right: nothing in it is normative.
"""
