"""What the suite says about itself: coverage, what is passed by chance, mutants, printed numbers; ``tokspec dev``."""
