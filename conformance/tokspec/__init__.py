"""A conformance suite for tokenizers."""
