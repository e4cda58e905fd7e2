"""``python -m tokspec``: the same as ``tokspec``."""

from tokspec.cli import main

if __name__ == "__main__":
    main()
