"""Asks published tokenizer libraries by their public interface; a second way beside the adapters.

Reads JSON lines {"library", "operation", "model", "written": {FORMAT: content}, "input"} and answers each with a line,
and the operation "operations" with the names of those that it knows:
{"answer": {...}}, {"error": "Type: message"} where the library raises, or {"not_offered": "why"}.
A library that ends the process ends this program too. Spans are as the library gives them: characters, of tokie bytes.
"""

from __future__ import annotations

import base64
import io
import json
import os
import sys
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
#: Ends a subword of subword-nmt that is not the last of its word, in place of @@, which texts of the suite hold.
MARK = "\U000f1234\U000f5678"
CACHED = 32


class NotOffered(Exception):
    """The library has nothing for the request."""


class GivesNothing(Exception):
    """The library gives None, as it documents, where there is no answer."""


Json: TypeAlias = dict[str, Any]
Operation: TypeAlias = Callable[[Any, Json], Json]
Make: TypeAlias = Callable[[Json, Json], Any]
Library: TypeAlias = tuple[Make, dict[str, Operation]]


def need(condition: object, why: str) -> None:
    if not condition:
        raise NotOffered(why)


def takes(given: Json, *options: str) -> None:
    """Refuse an input with an option that is not one of these."""
    every = {"pair", "add_special_tokens", "allowed_special", "disallowed_special", "skip_special_tokens"}
    for option in sorted(every & given.keys() - set(options)):
        raise NotOffered(f"no option {option}")
    if "pair" not in options:
        need(not any("pair" in one for one in given.get("inputs", [])), "no option pair")


def ids_of(given: Json) -> list[int]:
    need("ids" in given, "decodes ids alone")
    ids: list[int] = given["ids"]
    return ids


def texts_of(given: Json) -> list[str]:
    return [one["text"] for one in given["inputs"]]


def file_of(written: Json, form: str) -> tuple[dict[str, bytes], Json]:
    """The files of a written model, and what stands beside them."""
    need(form in written, f"the model is not written as {form}")
    content = written[form]
    files = {
        name: base64.b64decode(text["base64"]) if isinstance(text, dict) else text.encode("utf-8", "surrogatepass")
        for name, text in content["files"].items()
    }
    return files, content.get("beside", {})


def tokenizer_json(written: Json) -> str:
    need("tokenizer.json" in written, "the model is not written as tokenizer.json")
    return json.dumps(written["tokenizer.json"], ensure_ascii=False)


def on_disk(files: dict[str, bytes], load: Callable[[Path], Any]) -> Any:
    """What a loader of files makes of them."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            (Path(folder) / name).write_bytes(data)
        return load(Path(folder))


def only(beside: Json, *keys: str) -> None:
    for key, value in beside.items():
        need(key in keys or key == "type" or not value, f"no place for {key}")


def byte_pattern(beside: Json, whole: str | None = r"[\s\S]+") -> str:
    """The regular expression that splits as the byte-level pre-tokenizer of the model does."""
    if "pattern" in beside:
        return str(beside["pattern"])
    stage = beside.get("pre_tokenizer") or {}
    need(stage.get("type") == "byte_level", "no such pre-tokenizer")
    need(not stage.get("add_prefix_space"), "no prefix space")
    if stage.get("use_regex", True):
        return GPT2
    need(whole is not None, "always splits by its pattern")
    return str(whole)


def specials(beside: Json, known: dict[str, int]) -> dict[str, int]:
    """Content and id of special tokens that have no flag."""
    given = beside.get("special_tokens") or {}
    found = dict(given) if isinstance(given, dict) else {token: known[token] for token in given}
    for token in beside.get("added_tokens") or []:
        need(token.get("special", True), "no added tokens that are not special")
        flags = ("normalized", "lstrip", "rstrip", "single_word")
        need(not any(token.get(flag) for flag in flags), "no flags of added tokens")
        found[token["content"]] = token.get("id", known.get(token["content"], -1))
    need(-1 not in found.values(), "a special token has no id")
    return found


def vocabulary(model: Json) -> dict[str, int]:
    need("vocabulary" in model, "the model has no vocabulary")
    entries = model["vocabulary"]
    listed = not entries or isinstance(entries[0], str)
    return {entry: number for number, entry in enumerate(entries)} if listed else dict(entries)


# tokenizers


def tokenizers_make(model: Json, written: Json) -> Any:
    return import_module("tokenizers").Tokenizer.from_str(tokenizer_json(written))


def split_specials(given: Json) -> bool:
    """Whether all special tokens are to be read as text, for libraries that know all and none."""
    allowed = given.get("allowed_special", "all")
    need(allowed in ("all", []), "allows all special tokens or none")
    need("disallowed_special" not in given, "disallows no special token")
    return bool(allowed != "all")


def tokenizers_fields(encoding: Any) -> Json:
    return {
        "tokens": encoding.tokens,
        "ids": encoding.ids,
        "spans": encoding.offsets,
        "type_ids": encoding.type_ids,
        "special_tokens_mask": encoding.special_tokens_mask,
        "attention_mask": encoding.attention_mask,
        "word_ids": encoding.word_ids,
        "sequence_ids": encoding.sequence_ids,
        "overflowing": [tokenizers_fields(one) for one in encoding.overflowing],
    }


def tokenizers_encode(made: Any, given: Json) -> Json:
    takes(given, "pair", "add_special_tokens", "allowed_special")
    made.encode_special_tokens = split_specials(given)
    add = given.get("add_special_tokens", True)
    return tokenizers_fields(made.encode(given["text"], given.get("pair"), add_special_tokens=add))


def tokenizers_batch(made: Any, given: Json) -> Json:
    made.encode_special_tokens = split_specials(given)
    inputs = [(one["text"], one["pair"]) if "pair" in one else one["text"] for one in given["inputs"]]
    encodings = made.encode_batch(inputs, add_special_tokens=given.get("add_special_tokens", True))
    return {"encodings": [tokenizers_fields(one) for one in encodings]}


def tokenizers_decode(made: Any, given: Json) -> Json:
    if "tokens" in given:
        takes(given)
        need(made.decoder, "decodes tokens by a decoder alone")
        return {"text": made.decoder.decode(given["tokens"])}
    return {"text": made.decode(given["ids"], skip_special_tokens=given.get("skip_special_tokens", False))}


def tokenizers_stream(made: Any, given: Json) -> Json:
    need(not {"end", "prompt", "id_steps", "beside"} & given.keys(), "takes an id at a time, and has no end")
    decoders = import_module("tokenizers.decoders")
    stream = decoders.DecodeStream(skip_special_tokens=given.get("skip_special_tokens", False))
    return {"parts": [stream.step(made, one) or "" for one in given["ids"]]}


def tokenizers_normalize(made: Any, given: Json) -> Json:
    need(made.normalizer, "the tokenizer has no normalizer")
    return {"text": made.normalizer.normalize_str(given["text"])}


def tokenizers_pieces(made: Any, given: Json) -> Json:
    need(made.pre_tokenizer, "the tokenizer has no pre-tokenizer")
    return {"pieces": [[piece, *span] for piece, span in made.pre_tokenizer.pre_tokenize_str(given["text"])]}


def words_of(corpus: Json) -> list[str]:
    """Every word of a corpus as often as it counts, for trainers that take texts."""
    need("words" in corpus, "trains on words alone")
    need(sum(count for _, count in corpus["words"]) <= 100_000, "more words than are worth repeating")
    need(all(count for _, count in corpus["words"]), "a word with the count 0 is in no text")
    return [word for word, count in corpus["words"] for _ in range(count)]


def tokenizers_train(made: Any, given: Json) -> Json:
    need("merge_count" not in given, "has a target for tokens alone")
    need(made.model.__class__.__name__ == "BPE", "has the trainer of BPE")
    need(not made.model.end_of_word_suffix and not made.model.continuing_subword_prefix, "no parts of words")
    trainers = import_module("tokenizers.trainers")
    special = [token.content for token in made.get_added_tokens_decoder().values()]
    learner = import_module("tokenizers").Tokenizer(import_module("tokenizers.models").BPE())
    least = given.get("min_frequency", 1)
    size = given["vocabulary_size"]
    trainer = trainers.BpeTrainer(vocab_size=size, min_frequency=least, special_tokens=special, show_progress=False)
    learner.train_from_iterator(words_of(given["corpus"]), trainer)
    model = json.loads(learner.to_str())["model"]
    return {"vocabulary": sorted(model["vocab"], key=model["vocab"].get), "merges": model["merges"]}


# sentencepiece


def sentencepiece_make(model: Json, written: Json) -> Any:
    if "type" not in model:  # a normalizer alone, which leaves the spaces of a text
        kind = model.get("normalizer", {}).get("type")
        need(kind == "nfkc", "of its rules by name only NFKC is one of the specification")
        spaces = dict.fromkeys(("add_dummy_prefix", "escape_whitespaces", "remove_extra_whitespaces"), False)
        return import_module("sentencepiece").SentencePieceNormalizer(rule_name=kind, **spaces), None
    files, beside = file_of(written, "sentencepiece.model")
    decoder = (beside.get("decoder") or {}).get("type")
    return import_module("sentencepiece").SentencePieceProcessor(model_proto=files["sentencepiece.model"]), decoder


def own_decoder(decoder: str | None) -> None:
    need(decoder in (None, "sentencepiece", "metaspace"), "no such decoder")


def sentencepiece_fields(encoding: Json) -> Json:
    return {"tokens": encoding["pieces"], "ids": encoding["ids"], "spans": encoding["offsets"]}


def sentencepiece_encode(made: Any, given: Json) -> Json:
    takes(given)
    return sentencepiece_fields(made[0].encode(given["text"], return_type="offset_mapping"))


def sentencepiece_batch(made: Any, given: Json) -> Json:
    takes(given)
    encodings = made[0].encode(texts_of(given), return_type="offset_mapping")
    return {"encodings": [sentencepiece_fields(one) for one in encodings]}


def sentencepiece_decode(made: Any, given: Json) -> Json:
    takes(given)
    own_decoder(made[1])
    return {"text": made[0].decode(given["tokens"] if "tokens" in given else given["ids"])}


def sentencepiece_offsets(made: Any, given: Json) -> Json:
    own_decoder(made[1])
    decoded = made[0].decode(given["ids"], return_type="offset_mapping")
    return {"text": decoded["text"], "offsets": [start for start, _ in decoded["offsets"]]}


def sentencepiece_nbest(made: Any, given: Json) -> Json:
    return {"segmentations": made[0].nbest_encode(given["word"], nbest_size=given["nbest_size"], return_type=str)}


def sentencepiece_segment(made: Any, given: Json) -> Json:
    """The first of two segmentations, for a single one has no score."""
    need("initial_score" not in given, "no initial score")
    best = made[0].nbest_encode_as_proto(given["word"], nbest_size=2).nbests[0]
    return {"tokens": [piece.piece for piece in best.pieces], "score": -best.score}


# tiktoken, and libraries of its interface


def ranks_of(written: Json) -> tuple[dict[bytes, int], Json]:
    files, beside = file_of(written, "vocab.tiktoken")
    post = beside.get("post_processor") or {"type": "byte_level"}
    need(post["type"] == "byte_level", "no post-processor")  # that of bytes changes spans alone
    only(beside, "pre_tokenizer", "decoder", "special_tokens", "added_tokens", "post_processor", "pattern")
    load = import_module("tiktoken.load").load_tiktoken_bpe
    return on_disk(files, lambda folder: load(str(folder / "vocab.tiktoken"))), beside


def tiktoken_make(model: Json, written: Json) -> Any:
    if "type" not in model and "pre_tokenizer" in model:
        return model["pre_tokenizer"]
    ranks, beside = ranks_of(written)
    special = specials(beside, {})
    encoding = import_module("tiktoken").Encoding
    return encoding("raw", pat_str=byte_pattern(beside), mergeable_ranks=ranks, special_tokens=special)


def tiktoken_options(given: Json) -> Json:
    takes(given, "allowed_special", "disallowed_special")
    allowed, disallowed = given.get("allowed_special", "all"), given.get("disallowed_special", [])
    return {
        "allowed_special": allowed if allowed == "all" else set(allowed),
        "disallowed_special": disallowed if disallowed == "all" else set(disallowed),
    }


def tiktoken_encode(made: Any, given: Json) -> Json:
    return {"ids": made.encode(given["text"], **tiktoken_options(given))}


def tiktoken_batch(made: Any, given: Json) -> Json:
    return {"encodings": [{"ids": ids} for ids in made.encode_batch(texts_of(given), **tiktoken_options(given))]}


def plain_decode(made: Any, given: Json) -> Json:
    takes(given)
    return {"text": made.decode(ids_of(given))}


def bytes_decode(made: Any, given: Json) -> Json:
    return {"bytes": made.decode_bytes(given["ids"]).hex()}


def tiktoken_offsets(made: Any, given: Json) -> Json:
    text, offsets = made.decode_with_offsets(given["ids"])
    return {"text": text, "offsets": offsets}


def tiktoken_pieces(made: Any, given: Json) -> Json:
    """Pieces of a pattern whose matches are all of the text: each is a token where every part of the text is one."""
    need(isinstance(made, dict) and made["type"] == "split", "cuts by a pattern alone")
    text, pattern = given["text"], made["pattern"].get("regex")
    need(pattern is not None and not made.get("invert"), "cuts by an expression")
    need(made.get("behavior") == "isolated" and len(text) <= 60, "cuts by an expression, and short texts here")
    ends = range(1, len(text) + 1)
    parts = sorted({text[start:end].encode() for end in ends for start in range(end)} or {b" "})
    ranks = {part: rank for rank, part in enumerate(parts)}
    encoding = import_module("tiktoken").Encoding("pieces", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    pieces = [encoding.decode_single_token_bytes(one).decode() for one in encoding.encode_ordinary(text)]
    need("".join(pieces) == text, "drops what is not matched")
    return {"pieces": [[piece] for piece in pieces]}


def educational_make(model: Json, written: Json) -> Any:
    need(model.get("type") == "bpe", "knows models of bpe")
    if "vocabulary" not in model:
        only(model, "pre_tokenizer")
        return None, {}
    ranks, beside = ranks_of(written)
    simple = import_module("tiktoken._educational").SimpleBytePairEncoding
    return simple(pat_str=byte_pattern(beside), mergeable_ranks=ranks), specials(beside, {})


def educational_encode(made: Any, given: Json) -> Json:
    takes(given)
    library, special = made
    need(not any(token in given["text"] for token in special), "no special tokens")
    return {"ids": library.encode(given["text"], visualise=None)}


def educational_train(made: Any, given: Json) -> Json:
    need(made[0] is None and "min_frequency" not in given, "learns merges of bytes, without a least frequency")
    need("vocabulary_size" in given and "merge_count" not in given, "has a target for tokens alone")
    words = words_of(given["corpus"])
    need(not any("\n" in word for word in words), "a line feed is between the words here")
    train = import_module("tiktoken._educational").bpe_train
    ranks = train("\n".join(words), given["vocabulary_size"], "[^\n]+", visualise=None)
    need(all(byte < 128 for token in ranks for byte in token[1:]), "tokens of ASCII are their own names")
    return {"vocabulary": [""] * len(ranks)}


def educational_decode(made: Any, given: Json) -> Json:
    library, special = made
    need(not set(special.values()).intersection(ids_of(given)), "no special tokens")
    return plain_decode(library, given)


# mistral-common: special tokens have the first ids, and are not looked for in a text


def tekken_make(model: Json, written: Json) -> Any:
    module = import_module("mistral_common.tokens.tokenizers.tekken")
    if "tekken.json" in written:
        data = json.dumps(written["tekken.json"]).encode()
        return on_disk({"tekken.json": data}, lambda folder: module.Tekkenizer.from_file(folder / "tekken.json"))
    ranks, beside = ranks_of(written)
    special = sorted(specials(beside, {}).items(), key=lambda item: item[1])
    first = len(special)
    need([number for _, number in special] == list(range(first)), "special tokens have the first ids")
    vocab = [
        {"rank": rank - first, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for token, rank in sorted(ranks.items(), key=lambda item: item[1])
        if rank >= first
    ]
    return module.Tekkenizer(
        vocab=vocab,
        special_tokens=[{"rank": rank, "token_str": token, "is_control": True} for token, rank in special],
        pattern=byte_pattern(beside),
        vocab_size=len(vocab) + first,
        num_special_tokens=first,
        version=import_module("mistral_common.tokens.tokenizers.base").TokenizerVersion.v3,
    )


def tekken_encode(made: Any, given: Json) -> Json:
    takes(given, "allowed_special", "disallowed_special")
    need(given.get("allowed_special") == [] or not made.num_special_tokens, "looks for no special tokens in a text")
    need(not given.get("disallowed_special"), "disallows no special token")
    return {"ids": made.encode(given["text"], bos=False, eos=False)}


def tekken_decode(made: Any, given: Json) -> Json:
    policy = import_module("mistral_common.tokens.tokenizers.base").SpecialTokenPolicy
    skip = given.get("skip_special_tokens", False)
    return {"text": made.decode(ids_of(given), special_token_policy=policy.IGNORE if skip else policy.KEEP)}


def tekken_bytes(made: Any, given: Json) -> Json:
    keep = import_module("mistral_common.tokens.tokenizers.base").SpecialTokenPolicy.KEEP
    return {"bytes": b"".join(made.id_to_byte_piece(one, special_token_policy=keep) for one in given["ids"]).hex()}


# subword-nmt: 0.1 of its format has the end of a word as a symbol of its own, 0.2 at the last letter


def subword_make(model: Json, written: Json) -> Any:
    if "vocabulary" not in model:
        return None
    need(model.get("type") == "bpe" and "vocabulary" in model, "encodes by the merges of a bpe model")
    only(model, "vocabulary", "merges", "pre_tokenizer", "end_of_word_suffix", "about", "decoder")
    suffix = model.get("end_of_word_suffix", "")
    need(suffix in ("", "</w>"), "the end of a word is </w>")
    stage = (model.get("pre_tokenizer") or {"type": None})["type"]
    need(stage in (None, "whitespace_split"), "splits at spaces alone")
    lines = [f"#version: {'0.2' if suffix else '0.1'}", *(f"{left} {right}" for left, right in model.get("merges", []))]
    codes = io.StringIO("\n".join(lines) + "\n")
    bpe = import_module("subword_nmt.apply_bpe").BPE(codes, merges=len(lines) - 1, separator=MARK)
    return bpe, suffix, stage


def subword_encode(made: Any, given: Json) -> Json:
    takes(given)
    need(made, "encodes by merges")
    bpe, suffix, stage = made
    parts = bpe.segment_tokens([given["text"]]) if stage is None else bpe.segment(given["text"]).split(" ")
    return {"tokens": [part.removesuffix(MARK) if part.endswith(MARK) else part + suffix for part in parts if part]}


def subword_pairs(made: Any, given: Json) -> Json:
    need(made is None and "words" in given["corpus"] and not given.get("steps"), "counts the pairs of words at first")
    need("first" not in given, "counts all pairs")
    words = [(tuple(word), count) for word, count in given["corpus"]["words"]]
    counts, _ = import_module("subword_nmt.learn_bpe").get_pair_statistics(words)
    return {"pairs": [[left, right, count] for (left, right), count in counts.items()]}


# curated-tokenizers


def curated_make(model: Json, written: Json) -> Any:
    module = import_module("curated_tokenizers")
    if "sentencepiece.model" in written:
        files, beside = file_of(written, "sentencepiece.model")
        decoder = (beside.get("decoder") or {}).get("type")
        return module.SentencePieceProcessor.from_protobuf(files["sentencepiece.model"]), decoder
    if "vocab.txt" in written:
        files, beside = file_of(written, "vocab.txt")
        only(beside, "unknown_token", "continuing_prefix", "max_word_length", "decoder")
        need(beside.get("continuing_prefix", "##") == "##", "the prefix is ##")
        return on_disk(files, lambda folder: module.WordPieceProcessor.from_file(str(folder / "vocab.txt"))), None
    files, beside = file_of(written, "vocab.json+merges.txt")
    only(beside, "pre_tokenizer", "decoder")
    byte_pattern(beside, whole=None)
    load = module.ByteBPEProcessor.load_from_files
    return on_disk(files, lambda folder: load(vocab=folder / "vocab.json", merges=folder / "merges.txt")), None


def curated_encode(made: Any, given: Json) -> Json:
    takes(given)
    ids, tokens = made[0].encode(given["text"])
    return {"tokens": tokens, "ids": ids}


def curated_decode(made: Any, given: Json) -> Json:
    takes(given)
    processor, decoder = made
    if hasattr(processor, "decode_from_pieces"):
        own_decoder(decoder)
    if "tokens" in given:
        need(hasattr(processor, "decode_from_pieces"), "decodes ids alone")
        return {"text": processor.decode_from_pieces(given["tokens"])}
    decode = processor.decode_from_ids if hasattr(processor, "decode_from_ids") else processor.decode
    return {"text": decode(given["ids"])}


# ffbpe: an Encoding for models of bytes, a BpeEncoder for others


def ffbpe_make(model: Json, written: Json) -> Any:
    module = import_module("ffbpe")
    if "vocabulary" not in model:
        need(model.get("type") == "bpe", "trains bpe")
        only(model)  # words as they are
        return module.BpeTrainer([], unit="unicode", initial_alphabet=None)
    files, beside = file_of(written, "vocab.json+merges.txt")
    files["merges.txt"] = files["merges.txt"].partition(b"\n")[2]  # its own files have no line of the version
    stage = beside.get("pre_tokenizer") or {}
    if stage.get("type") == "byte_level" or "pattern" in beside:
        only(beside, "pre_tokenizer", "decoder", "special_tokens", "added_tokens", "pattern")
        special = specials(beside, vocabulary(model))
        pattern = byte_pattern(beside)
        paths = {"vocab_file": "vocab.json", "merges_file": "merges.txt"}

        def load(folder: Path) -> Any:
            named = {key: folder / name for key, name in paths.items()}
            return module.Encoding.from_files("raw", **named, special_tokens=special, pat_str=pattern)

        return on_disk(files, load)
    only(beside, "pre_tokenizer", "decoder")
    need(stage.get("type") in (None, "whitespace_split"), "no such pre-tokenizer")
    vocab = {token.encode(): number for token, number in vocabulary(model).items()}
    merges = [(left.encode(), right.encode()) for left, right in model.get("merges", [])]
    pattern = r"\S+" if stage else r"[\s\S]+"
    return module.BpeEncoder(unit="unicode", vocab=vocab, merges=merges, pat_str=pattern, special_tokens=[])


def is_encoding(made: Any) -> bool:
    return hasattr(made, "encode_ordinary")


def ffbpe_encode(made: Any, given: Json) -> Json:
    if is_encoding(made):
        return tiktoken_encode(made, given)
    takes(given)
    return {"ids": made.encode(given["text"])}


def ffbpe_train(made: Any, given: Json) -> Json:
    need(hasattr(made, "init_training") and "words" in given["corpus"], "trains on words")
    need("vocabulary_size" in given and "merge_count" not in given, "has a target for tokens alone")
    need("min_frequency" not in given, "is made with its least frequency")
    trainer = import_module("ffbpe").BpeTrainer([], unit="unicode", initial_alphabet=None)
    trainer.add_words([(word, count) for word, count in given["corpus"]["words"]])
    trainer.init_training()
    before = -1
    while before < trainer.vocab_size:
        before = trainer.vocab_size
        trainer.train(given["vocabulary_size"])
    return {"vocabulary": [token.decode("utf-8", "backslashreplace") for token in trainer.vocab]}


def ffbpe_merges(made: Any, given: Json, count: int) -> list[Json]:
    """Pairs and counts of the first merges, off the file that it saves; of words whose letters need no escapes."""
    need(hasattr(made, "init_training") and "words" in given["corpus"], "trains on words")
    words = [(word, times) for word, times in given["corpus"]["words"]]
    need(all(word.isascii() and word.isalpha() for word, _ in words), "words of letters, which are written as they are")
    need(count >= 0 and not {"min_frequency", "vocabulary_size"} & given.keys(), "counts merges alone here")
    trainer = import_module("ffbpe").BpeTrainer([], unit="unicode", initial_alphabet=None)
    trainer.add_words(words)
    trainer.init_training()
    trainer.train(trainer.vocab_size + count)
    with tempfile.TemporaryDirectory() as folder:
        trainer.save_files(Path(folder) / "vocab.json", Path(folder) / "merges.txt")
        lines = (Path(folder) / "merges.txt").read_text("utf-8").splitlines()
    rows = [line.rsplit(" => ", 1) for line in lines]
    return [[*pair.split(" "), int(times)] for pair, times in rows]


def ffbpe_trace(made: Any, given: Json) -> Json:
    need("merge_count" in given, "has a number of merges")
    return {"steps": ffbpe_merges(made, given, given["merge_count"])}


def ffbpe_best(made: Any, given: Json) -> Json:
    steps = given.get("steps", 0)
    need(steps >= 0, "no merges before the first")
    merges = ffbpe_merges(made, given, steps + 1)
    need(len(merges) > steps, "there is no such merge")
    return {"pair": merges[steps][:2], "count": merges[steps][2]}


def of_bytes(operation: Operation) -> Operation:
    """An operation that only the class for models of bytes has."""

    def ask(made: Any, given: Json) -> Json:
        need(is_encoding(made), "for models of bytes alone")
        return operation(made, given)

    return ask


# fastokens: the tokens, spans and word ids of its encodings raise NotImplementedError


def fastokens_make(model: Json, written: Json) -> Any:
    return import_module("fastokens._native").Tokenizer.from_json_str(tokenizer_json(written))


def fastokens_fields(encoding: Any) -> Json:
    return {
        "ids": encoding.ids,
        "type_ids": encoding.type_ids,
        "special_tokens_mask": encoding.special_tokens_mask,
        "attention_mask": encoding.attention_mask,
        "overflowing": [fastokens_fields(one) for one in encoding.overflowing],
    }


def fastokens_options(given: Json) -> Json:
    takes(given, "add_special_tokens", "allowed_special", "disallowed_special")
    add = given.get("add_special_tokens", True)
    return {"add_special_tokens": add, "split_special_tokens": split_specials(given)}


def fastokens_encode(made: Any, given: Json) -> Json:
    return fastokens_fields(made.encode(given["text"], **fastokens_options(given)))


def fastokens_batch(made: Any, given: Json) -> Json:
    encodings = made.encode_batch(texts_of(given), **fastokens_options(given))
    return {"encodings": [fastokens_fields(one) for one in encodings]}


def fastokens_parts(made: Any, given: Json) -> Json:
    need(not given.get("add_special_tokens", True), "puts nothing around segments")
    need(all("text" in part for part in given["parts"]), "takes texts")
    segments = [(part["text"], part.get("trusted", False)) for part in given["parts"]]
    return {"ids": made.encode_segments(segments).ids}


def fastokens_decode(made: Any, given: Json) -> Json:
    if "tokens" in given:
        takes(given)
        return {"text": made.decode_tokens(given["tokens"])}
    return {"text": made.decode(given["ids"], skip_special_tokens=given.get("skip_special_tokens", False))}


# gigatoken


def gigatoken_make(model: Json, written: Json) -> Any:
    tokenizer = import_module("gigatoken").Tokenizer
    if "tokenizer.json" not in written and "sentencepiece.model" in written:
        return tokenizer.from_sentencepiece(file_of(written, "sentencepiece.model")[0]["sentencepiece.model"])
    return tokenizer.from_json(tokenizer_json(written))


def gigatoken_like_tiktoken(given: Json) -> bool:
    return "allowed_special" in given or "disallowed_special" in given


def gigatoken_encode(made: Any, given: Json) -> Json:
    if gigatoken_like_tiktoken(given):
        return tiktoken_encode(made.as_tiktoken(), given)
    takes(given, "add_special_tokens")
    wrapped, add = made.as_hf(), given.get("add_special_tokens", True)
    encoding = wrapped(given["text"], add_special_tokens=add)
    tokens = wrapped.tokenize(given["text"], add_special_tokens=add)
    return {"tokens": tokens, "ids": encoding["input_ids"], "attention_mask": encoding["attention_mask"]}


def gigatoken_batch(made: Any, given: Json) -> Json:
    if gigatoken_like_tiktoken(given):
        return tiktoken_batch(made.as_tiktoken(), given)
    takes(given, "add_special_tokens")
    rows = made.as_hf()(texts_of(given), add_special_tokens=given.get("add_special_tokens", True))["input_ids"]
    return {"encodings": [{"ids": ids} for ids in rows]}


def gigatoken_decode(made: Any, given: Json) -> Json:
    wrapped = made.as_hf()
    if "tokens" in given:
        takes(given)
        return {"text": wrapped.convert_tokens_to_string(given["tokens"])}
    return {"text": wrapped.decode(given["ids"], skip_special_tokens=given.get("skip_special_tokens", False))}


def gigatoken_bytes(made: Any, given: Json) -> Json:
    return {"bytes": made.decode(given["ids"]).hex()}


# onnxruntime-extensions: what it puts around a text and skips is an option of the tokenizer


def onnx_make(model: Json, written: Json) -> Any:
    file = tokenizer_json(written)
    parsed = json.loads(file)["model"]
    kind = {"BPE": "PreTrainedTokenizerFast", "Unigram": "T5Tokenizer"}.get(parsed.get("type"))
    need(kind, "knows BPE and Unigram")
    config: Json = {"tokenizer_class": kind}
    if kind == "T5Tokenizer" and parsed.get("unk_id") is not None:
        config |= {"unk_token": parsed["vocab"][parsed["unk_id"]][0], "add_bos_token": False, "add_eos_token": False}
    files = {"tokenizer.json": file.encode(), "tokenizer_config.json": json.dumps(config).encode()}
    api = import_module("onnxruntime_extensions.pp_api")
    return api, on_disk(files, lambda folder: api.create_tokenizer(str(folder)))


def onnx_encode(made: Any, given: Json) -> Json:
    takes(given, "add_special_tokens")
    encodings: list[Json] = onnx_batch(made, {**given, "inputs": [{"text": given["text"]}]})["encodings"]
    return encodings[0]


def onnx_batch(made: Any, given: Json) -> Json:
    takes(given, "add_special_tokens")
    api, tokenizer = made
    api.update_tokenizer_options(tokenizer, {"add_special_tokens": str(given.get("add_special_tokens", True)).lower()})
    return {"encodings": [{"ids": list(ids)} for ids in api.batch_tokenize(tokenizer, texts_of(given))]}


def onnx_decode(made: Any, given: Json) -> Json:
    api, tokenizer = made
    skips = str(given.get("skip_special_tokens", False)).lower()
    api.update_tokenizer_options(tokenizer, {"skip_special_tokens": skips})
    return {"text": api.batch_detokenize(tokenizer, [ids_of(given)])[0]}


# openvino-tokenizers: it converts the tokenizer of a folder in which one of transformers was saved


def openvino_make(model: Json, written: Json) -> Any:
    auto = import_module("transformers").AutoTokenizer
    convert, core = import_module("openvino_tokenizers").convert_tokenizer, import_module("openvino").Core()
    config = json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}).encode()
    files = {"tokenizer.json": tokenizer_json(written).encode(), "tokenizer_config.json": config}
    tokenizer = on_disk(files, lambda folder: auto.from_pretrained(folder, local_files_only=True))
    graphs = {}
    for special in (True, False):
        options = {"add_special_tokens": special, "skip_special_tokens": special, "clean_up_tokenization_spaces": False}
        graphs[special] = [core.compile_model(each) for each in convert(tokenizer, with_detokenizer=True, **options)]
    return graphs


def openvino_encode(made: Any, given: Json) -> Json:
    takes(given, "add_special_tokens")
    found = made[given.get("add_special_tokens", True)][0].create_infer_request().infer([given["text"]])
    named = {output.get_any_name(): values[0].tolist() for output, values in found.items()}
    return {"ids": named["input_ids"], "attention_mask": named["attention_mask"]}


def openvino_decode(made: Any, given: Json) -> Json:
    infer = made[given.get("skip_special_tokens", False)][1].create_infer_request().infer
    (texts,) = infer([[ids_of(given)]]).values()
    return {"text": str(texts[0])}


# pytorch-tokenizers: its tokens are those of a number of marks at the start, or at the end


def pytorch_make(model: Json, written: Json) -> Any:
    tokenizer = import_module("pytorch_tokenizers.pytorch_tokenizers_cpp").HFTokenizer()
    files = {"tokenizer.json": tokenizer_json(written).encode()}
    on_disk(files, lambda folder: tokenizer.load(str(folder / "tokenizer.json")))
    return tokenizer


def pytorch_encode(made: Any, given: Json) -> Json:
    takes(given, "add_special_tokens")
    return {"ids": made.encode(given["text"], *((1, 1) if given.get("add_special_tokens", True) else ()))}


def pytorch_decode(made: Any, given: Json) -> Json:
    return {"text": made.decode_batch(ids_of(given), skip_special_tokens=given.get("skip_special_tokens", False))}


# splintr


def splintr_make(model: Json, written: Json) -> Any:
    return import_module("splintr").from_json_bytes(tokenizer_json(written).encode())


def splintr_encode(made: Any, given: Json) -> Json:
    takes(given, "add_special_tokens", "allowed_special", "disallowed_special")
    allowed, disallowed = given.get("allowed_special", "all"), given.get("disallowed_special", [])
    if not given.get("add_special_tokens", True):
        need(allowed == "all" and not disallowed, "no special tokens to choose without the template")
        return {"ids": made.encode_raw(given["text"])}
    if allowed == "all":
        need(disallowed in ("all", []), "disallows all special tokens that are not allowed, or none")
        return {"ids": made.encode_with_special(given["text"])}
    if disallowed == "all":
        return {"ids": made.encode_allowed_special(given["text"], allowed)}
    need(allowed == [] and not disallowed, "disallows all special tokens that are not allowed, or none")
    return {"ids": made.encode_ordinary(given["text"])}


def splintr_batch(made: Any, given: Json) -> Json:
    takes(given)
    return {"encodings": [{"ids": ids} for ids in made.encode_batch(texts_of(given))]}


def splintr_decode(made: Any, given: Json) -> Json:
    skip = given.get("skip_special_tokens", False)
    return {"text": (made.decode if skip else made.decode_with_special)(ids_of(given))}


def splintr_stream(made: Any, given: Json) -> Json:
    skip = given.get("skip_special_tokens", False)
    stream = made.streaming_decoder() if skip else made.streaming_decoder_with_special()
    need("prompt" not in given, "no prompt")
    if "id_steps" in given:
        parts = [stream.add_tokens(step) or "" for step in given["id_steps"]]
    else:
        parts = [stream.add_token(one) or "" for one in given["ids"]]
    return {"parts": parts, "end": stream.flush()} if given.get("end") else {"parts": parts}


# tokie


def tokie_make(model: Json, written: Json) -> Any:
    files = {"tokenizer.json": tokenizer_json(written).encode()}
    load = import_module("tokie").Tokenizer.from_json
    made = on_disk(files, lambda folder: load(str(folder / "tokenizer.json")))
    if truncation := written["tokenizer.json"].get("truncation"):  # which it reads in no file
        strategy = {"LongestFirst": "longest_first", "OnlyFirst": "only_first", "OnlySecond": "only_second"}
        options = {"strategy": strategy[truncation["strategy"]], "direction": truncation["direction"].lower()}
        made.enable_truncation(truncation["max_length"], stride=truncation["stride"], **options)
    if padding := written["tokenizer.json"].get("padding"):
        length = padding["strategy"]["Fixed"] if isinstance(padding["strategy"], dict) else None
        options = {key: padding[key] for key in ("pad_id", "pad_type_id", "pad_to_multiple_of")}
        made.enable_padding(direction=padding["direction"].lower(), length=length, **options)
    return made


def tokie_fields(encoding: Any) -> Json:
    return {
        "tokens": encoding.tokens,
        "ids": encoding.ids,
        "type_ids": encoding.type_ids,
        "special_tokens_mask": encoding.special_tokens_mask,
        "attention_mask": encoding.attention_mask,
    }


def tokie_encode(made: Any, given: Json) -> Json:
    takes(given, "pair", "add_special_tokens")
    add = given.get("add_special_tokens", True)
    if "pair" in given:
        return tokie_fields(made.encode_pair(given["text"], given["pair"], add_special_tokens=add))
    return tokie_fields(made.encode(given["text"], add_special_tokens=add))


def tokie_decode(made: Any, given: Json) -> Json:
    takes(given)
    text = made.decode(ids_of(given))
    if text is None:
        raise GivesNothing("no text of bytes that are not UTF-8")
    return {"text": text}


def tokie_batch(made: Any, given: Json) -> Json:
    takes(given, "add_special_tokens")
    encodings = made.encode_batch(texts_of(given), add_special_tokens=given.get("add_special_tokens", True))
    return {"encodings": [tokie_fields(one) for one in encodings]}


# transformers


def add_tokens(made: Any, beside: Json) -> Any:
    added = import_module("tokenizers").AddedToken
    for token in [*({"content": one} for one in beside.get("special_tokens", [])), *beside.get("added_tokens", [])]:
        flags = {"special": True, "normalized": False} | {key: token[key] for key in token if key != "id"}
        made.add_tokens([added(flags.pop("content"), **flags)], special_tokens=flags["special"])
    return made


def shape(beside: Json, made: Any) -> tuple[Any, Json, bool]:
    """A tokenizer, how its calls are to truncate, and whether decoding is to clean up."""
    call: Json = {}
    if truncation := beside.get("truncation"):
        made.truncation_side = truncation.get("direction", "right")
        call["truncation"] = truncation.get("strategy", "longest_first")
        call |= {"max_length": truncation["max_length"], "stride": truncation.get("stride", 0)}
    need(not beside.get("padding"), "pads by a pad token of its own")
    return made, call, bool((beside.get("decoder") or {}).get("cleanup"))


def bert_make(model: Json, written: Json) -> Any:
    legacy = import_module("transformers.models.bert.tokenization_bert_legacy").BertTokenizerLegacy
    files, beside = file_of(written, "vocab.txt")
    normalizer, stage = beside.get("normalizer") or {}, (beside.get("pre_tokenizer") or {}).get("type")
    post = beside.get("post_processor") or {}
    need(beside.get("max_word_length", 100) == 100, "the longest word has 100 characters")
    need(beside.get("continuing_prefix", "##") == "##", "the prefix is ##")
    need(post.get("type") in (None, "bert"), "no such post-processor")
    if stage == "bert":
        need(normalizer.get("type") == "bert" and normalizer.get("clean_text", True), "always cleans the text")
    else:
        need(stage in (None, "whitespace_split") and not normalizer, "no such stages before the model")
    cls, sep = (post["cls"][0], post["sep"][0]) if post else (None, None)
    options = {
        "do_basic_tokenize": stage == "bert",
        "do_lower_case": normalizer.get("lowercase", True),
        "strip_accents": normalizer.get("strip_accents"),
        "tokenize_chinese_chars": normalizer.get("handle_chinese_chars", True),
    }
    names = {"unk_token": beside.get("unknown_token", "[UNK]"), "cls_token": cls, "sep_token": sep}

    def load(folder: Path) -> Any:
        return legacy(str(folder / "vocab.txt"), **options, **names, pad_token=None, mask_token=None)

    return *shape(beside, add_tokens(on_disk(files, load), beside)), bool(post)


def clvp_make(model: Json, written: Json) -> Any:
    files, beside = file_of(written, "vocab.json+merges.txt")
    only(beside, "pre_tokenizer", "decoder", "special_tokens", "added_tokens", "truncation", "unknown_token")
    byte_pattern(beside, whole=None)
    clvp = import_module("transformers.models.clvp.tokenization_clvp").ClvpTokenizer
    names = {"unk_token": beside.get("unknown_token"), "bos_token": None, "eos_token": None, "pad_token": None}
    made = on_disk(files, lambda folder: clvp(str(folder / "vocab.json"), str(folder / "merges.txt"), **names))
    return *shape(beside, add_tokens(made, beside)), False


def transformers_encode(made: Any, given: Json) -> Json:
    takes(given, "pair", "add_special_tokens", "allowed_special", "disallowed_special")
    tokenizer, call, _, template = made
    add = template and given.get("add_special_tokens", True)
    split = split_specials(given)
    encoding = tokenizer(
        given["text"],
        given.get("pair"),
        add_special_tokens=add,
        return_token_type_ids=True,
        return_special_tokens_mask=True,
        **({"split_special_tokens": True} if split else {}),
        **call,
    )
    names = {"input_ids": "ids", "token_type_ids": "type_ids"}
    fields = ("input_ids", "token_type_ids", "attention_mask", "special_tokens_mask")
    answer: Json = {names.get(key, key): list(encoding[key]) for key in fields if key in encoding}
    if not (add or call or split or "pair" in given):
        answer["tokens"] = tokenizer.tokenize(given["text"])
    return answer


def transformers_batch(made: Any, given: Json) -> Json:
    takes(given, "add_special_tokens")
    tokenizer, call, _, template = made
    add = template and given.get("add_special_tokens", True)
    encoding = tokenizer(texts_of(given), add_special_tokens=add, **call)
    return {"encodings": [{"ids": ids} for ids in encoding["input_ids"]]}


def transformers_decode(made: Any, given: Json) -> Json:
    tokenizer, _, clean, _ = made
    if "tokens" in given:
        takes(given)
        return {"text": tokenizer.convert_tokens_to_string(given["tokens"])}
    skip = given.get("skip_special_tokens", False)
    return {"text": tokenizer.decode(given["ids"], skip_special_tokens=skip, clean_up_tokenization_spaces=clean)}


# streams of transformers and mlx-lm


def loaded_by_transformers(written: Json) -> Any:
    files = {"tokenizer.json": tokenizer_json(written).encode()}
    fast = import_module("transformers").PreTrainedTokenizerFast
    return on_disk(files, lambda folder: fast(tokenizer_file=str(folder / "tokenizer.json")))


def streamer_make(model: Json, written: Json) -> Any:
    return loaded_by_transformers(written)


def streamer_decode(made: Any, given: Json) -> Json:
    return {"text": made.decode(ids_of(given), skip_special_tokens=given.get("skip_special_tokens", False))}


def streamer_stream(made: Any, given: Json) -> Json:
    """Text that a streamer writes, line by line, where standard output is; a stream that is ended."""
    need(given.get("end"), "streams are ended")
    array, stream = import_module("numpy").array, import_module("transformers").TextStreamer
    skip = {"skip_prompt": "prompt" in given, "skip_special_tokens": given.get("skip_special_tokens", False)}
    streamer = stream(made, **skip)
    texts: list[str] = []
    streamer.on_finalized_text = lambda text, stream_end=False: texts.append(text)
    if "prompt" in given:
        streamer.put(array([given["prompt"]]))
    parts = []
    for step in given["id_steps"] if "id_steps" in given else [[one] for one in given["ids"]]:
        texts.clear()
        streamer.put(array(step, dtype="int64"))
        parts.append("".join(texts))
    texts.clear()
    streamer.end()
    return {"parts": parts, "end": "".join(texts)}


def mlx_make(model: Json, written: Json) -> Any:
    """Its module for tokenizers by itself, for the package needs mlx."""
    util, file = import_module("importlib.util"), import_module("importlib.metadata").distribution("mlx-lm")
    path = file.locate_file("mlx_lm/tokenizer_utils.py")
    spec = util.spec_from_file_location("raw_mlx_lm", str(path))
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    config = json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}).encode()
    files = {"tokenizer.json": tokenizer_json(written).encode(), "tokenizer_config.json": config}
    return on_disk(files, module.load)


def mlx_stream(made: Any, given: Json) -> Json:
    takes(given)
    need(given.get("end") and "prompt" not in given, "streams are ended, and have no prompt")
    stream, parts = made.detokenizer, []
    stream.reset()
    for step in given["id_steps"] if "id_steps" in given else [[one] for one in given["ids"]]:
        for one in step:
            stream.add_token(one)
        parts.append(stream.last_segment)
    stream.finalize()
    return {"parts": parts, "end": stream.last_segment}


TIKTOKEN: dict[str, Operation] = {
    "encode": tiktoken_encode,
    "encode_batch": tiktoken_batch,
    "decode": plain_decode,
    "decode_bytes": bytes_decode,
    "decode_with_offsets": tiktoken_offsets,
}
TRANSFORMERS: dict[str, Operation] = {
    "encode": transformers_encode,
    "encode_batch": transformers_batch,
    "decode": transformers_decode,
}
LIBRARIES: dict[str, Library] = {
    "tokenizers": (
        tokenizers_make,
        {
            "encode": tokenizers_encode,
            "encode_batch": tokenizers_batch,
            "decode": tokenizers_decode,
            "decode_stream": tokenizers_stream,
            "train": tokenizers_train,
            "normalize": tokenizers_normalize,
            "pre_tokenize": tokenizers_pieces,
        },
    ),
    "sentencepiece": (
        sentencepiece_make,
        {
            "encode": sentencepiece_encode,
            "encode_batch": sentencepiece_batch,
            "decode": sentencepiece_decode,
            "decode_with_offsets": sentencepiece_offsets,
            "normalize": lambda made, given: {"text": made[0].normalize(given["text"])},
            "nbest": sentencepiece_nbest,
            "segment": sentencepiece_segment,
        },
    ),
    "tiktoken": (tiktoken_make, {**TIKTOKEN, "pre_tokenize": tiktoken_pieces}),
    "tiktoken-educational": (
        educational_make,
        {
            "encode": educational_encode,
            "decode": educational_decode,
            "decode_bytes": lambda made, given: bytes_decode(made[0], given),
            "train": educational_train,
        },
    ),
    "mistral-tekken": (tekken_make, {"encode": tekken_encode, "decode": tekken_decode, "decode_bytes": tekken_bytes}),
    "subword-nmt": (subword_make, {"encode": subword_encode, "pair_frequencies": subword_pairs}),
    "curated-tokenizers": (curated_make, {"encode": curated_encode, "decode": curated_decode}),
    "ffbpe": (
        ffbpe_make,
        {name: of_bytes(ask) for name, ask in TIKTOKEN.items()}
        | {"encode": ffbpe_encode, "decode": plain_decode, "train": ffbpe_train}
        | {"training_trace": ffbpe_trace, "best_pair": ffbpe_best},
    ),
    "fastokens": (
        fastokens_make,
        {
            "encode": fastokens_encode,
            "encode_batch": fastokens_batch,
            "encode_parts": fastokens_parts,
            "decode": fastokens_decode,
        },
    ),
    "gigatoken": (
        gigatoken_make,
        {
            "encode": gigatoken_encode,
            "encode_batch": gigatoken_batch,
            "decode": gigatoken_decode,
            "decode_bytes": gigatoken_bytes,
        },
    ),
    "onnxruntime-extensions": (
        onnx_make,
        {"encode": onnx_encode, "encode_batch": onnx_batch, "decode": onnx_decode},
    ),
    "openvino-tokenizers": (openvino_make, {"encode": openvino_encode, "decode": openvino_decode}),
    "pytorch-tokenizers": (pytorch_make, {"encode": pytorch_encode, "decode": pytorch_decode}),
    "splintr": (
        splintr_make,
        {
            "encode": splintr_encode,
            "encode_batch": splintr_batch,
            "decode": splintr_decode,
            "decode_bytes": bytes_decode,
            "decode_stream": splintr_stream,
        },
    ),
    "tokie": (
        tokie_make,
        {"encode": tokie_encode, "encode_batch": tokie_batch, "decode": tokie_decode, "decode_bytes": bytes_decode},
    ),
    "transformers-bert": (bert_make, TRANSFORMERS),
    "transformers-clvp": (clvp_make, TRANSFORMERS),
    "transformers-streamer": (streamer_make, {"decode": streamer_decode, "decode_stream": streamer_stream}),
    "mlx-lm": (mlx_make, {"decode_stream": mlx_stream}),
}

MADE: OrderedDict[str, Any] = OrderedDict()


def plain(value: Any) -> Any:
    """JSON with strings in place of {"hex": ...}."""
    if isinstance(value, dict):
        if value.keys() == {"hex"} and isinstance(value["hex"], str):
            return bytes.fromhex(value["hex"]).decode("utf-8", "surrogatepass")
        return {plain_key: plain(item) for plain_key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def safe(value: Any) -> Any:
    """A library's answer as JSON; a string with a lone surrogate as {"hex": ...}."""
    if isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
        return {"hex": value.encode("utf-8", "surrogatepass").hex()}
    if isinstance(value, dict):
        return {key: safe(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [safe(item) for item in value]
    return value.item() if hasattr(value, "item") else value


def ask(request: Json) -> Json:
    name, operation = request["library"], request["operation"]
    make, operations = LIBRARIES[name]
    if operation == "operations":
        return {"operations": sorted(operations)}
    need(operation in operations, f"no operation {operation}")
    key = f"{name} {json.dumps(request['model'], sort_keys=True)}"
    if key not in MADE:
        MADE[key] = make(plain(request["model"]), plain(request["written"]))
        if len(MADE) > CACHED:
            MADE.popitem(last=False)
    MADE.move_to_end(key)
    answer: Json = safe(operations[operation](MADE[key], plain(request["input"])))
    return answer


def reply(request: Json) -> Json:
    try:
        return {"answer": ask(request)}
    except NotOffered as why:
        return {"not_offered": str(why)}
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of Rust and an exit of subword-nmt are no Exception
        return {"error": f"{type(error).__name__}: {error}".encode("utf-8", "backslashreplace").decode()}


def main() -> None:
    os.environ |= {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    mute = os.open(os.devnull, os.O_WRONLY)
    os.dup2(mute, 1)
    os.dup2(mute, 2)
    for line in io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8"):
        print(json.dumps(reply(json.loads(line))), file=out, flush=True)


if __name__ == "__main__":
    main()
