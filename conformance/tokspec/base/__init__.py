"""Foundations that every other room may use: errors, files, paths, and the display of untrusted text."""
