"""Results as pages: a static site of the matrix, one file for a run, and badges."""
