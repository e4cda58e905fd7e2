"""The adapters of the reference and its fast sibling, and the registry that finds implementations by name."""
