"""The commands of the laboratory, which ``tokspec`` finds as entry points."""
