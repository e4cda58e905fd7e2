"""Foundations that every other package may use: errors, files, paths, and the display of untrusted text."""
