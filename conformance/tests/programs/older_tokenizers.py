"""Reads a list of [file, text] and prints the ids that ``tokenizers`` gives for each; run with a Python that has it."""

import json
import sys

from tokenizers import Tokenizer


def ids(file, text):
    try:
        return Tokenizer.from_file(file).encode(text).ids
    except Exception as error:  # the library has no other
        return repr(error)


if __name__ == "__main__":
    print(json.dumps([ids(*one) for one in json.load(sys.stdin)]))
