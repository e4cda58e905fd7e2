"""The minimal reference implementation of the tokspec specification."""
