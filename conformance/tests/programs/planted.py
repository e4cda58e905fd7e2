"""Tokenizers that encode with a BPE model in one way each, by which a choice is, or is not, to be told of them.

They take the plainest of models alone, and refuse no text: an unknown character is a token of itself.
"""

from itertools import pairwise

from tokspec.adapter import Hello, Refusal, Unsupported


class Characters:
    """Returns the characters of a text, as if there were no merges."""

    def hello(self):
        return Hello(type(self).__name__.lower(), "1", "Python", operations=("encode",))

    def load(self, format, content):
        if content["type"] != "bpe" or not content.keys() <= {"type", "vocabulary", "merges", "unknown_token"}:
            raise Unsupported("only plain BPE")
        ids = {token: id for id, token in enumerate(content["vocabulary"])}
        if not all({left, right, left + right} <= ids.keys() for left, right in content["merges"]):
            raise Refusal("invalid_model", "a merge of what is not in the vocabulary")
        return content, ids, [tuple(merge) for merge in content["merges"]]

    def run(self, operation, model, input):
        content, ids, merges = model
        unknown = content.get("unknown_token")
        tokens = self.cut(input["text"], ids, merges)
        return {"tokens": [token if token in ids or unknown is None else unknown for token in tokens]}

    def cut(self, text, ids, merges):
        return list(text)


class SinglePass(Characters):
    """Goes through the list of merges once."""

    def cut(self, text, ids, merges):
        tokens = list(text)
        for left, right in merges:
            place = 0
            while place < len(tokens) - 1:
                if (tokens[place], tokens[place + 1]) == (left, right):
                    tokens[place : place + 2] = [left + right]
                place += 1
        return tokens


class Longest(Characters):
    """Cuts the longest token off the start, again and again."""

    def cut(self, text, ids, merges):
        tokens = []
        while text:
            length = next((length for length in range(len(text), 0, -1) if text[:length] in ids), 1)
            tokens.append(text[:length])
            text = text[length:]
        return tokens


class InVocabulary(Characters):
    """Merges the pair whose product has the smallest id, whether it is listed or not."""

    def cut(self, text, ids, merges):
        tokens = list(text)
        while pairs := self.pairs(tokens, ids, merges):
            _, place = min(pairs)
            tokens[place : place + 2] = [tokens[place] + tokens[place + 1]]
        return tokens

    def pairs(self, tokens, ids, merges):
        joined = [left + right for left, right in pairwise(tokens)]
        return [(ids[token], place) for place, token in enumerate(joined) if token in ids]


class LowestRank(InVocabulary):
    """Merges the listed pair of the lowest rank, until there is none."""

    def pairs(self, tokens, ids, merges):
        return [(merges.index(pair), place) for place, pair in enumerate(pairwise(tokens)) if pair in merges]
