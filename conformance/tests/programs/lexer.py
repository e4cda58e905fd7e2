"""A lexer for GPT-2's pattern as somebody writes it by hand, with the fault that the variable FAULT names."""

from __future__ import annotations

import os
import time
import unicodedata
from collections.abc import Mapping
from typing import Any

from tokspec.adapter import Hello

WHITE_SPACE = {*"\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000", *map(chr, range(0x2000, 0x200B))}
CONTRACTIONS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")


class Lexer:
    """Cuts a text at GPT-2's places, but for a fault."""

    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.contractions = [each for each in CONTRACTIONS if not (fault == "no 'll" and each == "'ll")]

    def pieces(self, text: str) -> list[tuple[str, int, int]]:
        at, found = 0, []
        while at < len(text):
            rest = text[at:].lower() if self.fault == "contractions in any case" else text[at:]
            end = next((at + len(each) for each in self.contractions if rest.startswith(each)), 0) or self.end(text, at)
            found.append((text[at:end], at, end))
            at = end
        return found

    def end(self, text: str, start: int) -> int:
        """Return where the run that starts at a place ends."""
        behind = text[start + 1 : start + 2]
        at = start + (text[start] == " " and behind != "" and self.kind(behind) != "space")
        kind = self.kind(text[at])
        while at < len(text) and self.kind(text[at]) == kind:
            at += 1
        return at - (kind == "space" and start + 1 < at < len(text) and self.fault != "no look-ahead")

    def kind(self, character: str) -> str:
        category = unicodedata.category(character)[0]
        if character in WHITE_SPACE or (self.fault == "isspace" and character.isspace()):
            return "space"
        if self.fault == "ASCII letters":
            return "letter" if "a" <= character.lower() <= "z" else "number" if category == "N" else "other"
        if self.fault == "UTF-16" and character > "\uffff":
            return "other"
        if self.fault == "digits" and category == "N":
            return "number" if character.isdecimal() else "other"
        return {"L": "letter", "N": "number"}.get(category, "other")


class Adapter:
    """Offers nothing but pieces."""

    def hello(self) -> Hello:
        components = ("pre_tokenizer/split",)
        return Hello("lexer", "1", "Python", ("pre_tokenize",), formats=("tokspec",), components=components)

    def load(self, format: str, content: Any) -> Lexer:
        return Lexer(os.environ.get("FAULT", ""))

    def run(self, operation: str, model: Lexer, input: Mapping[str, Any]) -> Mapping[str, Any]:
        if "!" in input["text"] and model.fault == "ends":
            os._exit(3)
        if "!" in input["text"] and model.fault == "hangs":
            time.sleep(60)
        return {"pieces": model.pieces(input["text"])}
