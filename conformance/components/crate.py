"""Read from the source of the crate ``tokenizers`` what components it has: the variants of its enums, and their fields.

    python conformance/components/crate.py FOLDER

takes the folder of the crate, and of ``spm_precompiled`` beside it, and writes ``crate.json``: names alone, by which
``component_table.py`` finds what the suite does not cover.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
FILE = HERE / "crate.json"

#: The enum of each stage, in the module of its folder.
STAGES = {
    "normalizer": ("normalizers", "NormalizerWrapper"),
    "pre_tokenizer": ("pre_tokenizers", "PreTokenizerWrapper"),
    "model": ("models", "ModelWrapper"),
    "post_processor": ("processors", "PostProcessorWrapper"),
    "decoder": ("decoders", "DecoderWrapper"),
}
#: Structures that are no variants, by the key of the file in which they stand.
OTHERS = {
    "added_tokens": ("tokenizer/added_vocabulary.rs", "AddedToken"),
    "truncation": ("utils/truncation.rs", "TruncationParams"),
    "padding": ("utils/padding.rs", "PaddingParams"),
}
#: Fields whose values are the variants of an enum.
VALUES = {
    "behavior": ("tokenizer/normalizer.rs", "SplitDelimiterBehavior"),
    "prepend_scheme": ("pre_tokenizers/metaspace.rs", "PrependScheme"),
    "pattern": ("pre_tokenizers/split.rs", "SplitPattern"),
    "single": ("processors/template.rs", "Piece"),
    "truncation.direction": ("utils/truncation.rs", "TruncationDirection"),
    "truncation.strategy": ("utils/truncation.rs", "TruncationStrategy"),
    "padding.direction": ("utils/padding.rs", "PaddingDirection"),
    "padding.strategy": ("utils/padding.rs", "PaddingStrategy"),
}

_USE = re.compile(r"^(?:pub )?use (?:crate|super::super|super)::([\w:]+)::(?:(\w+)|\{([\w, ]+)\});", re.MULTILINE)
_FIELD = re.compile(r"^\s+(?:pub(?:\([^)]*\))? )?(\w+): ", re.MULTILINE)


def extract(source: Path) -> dict[str, object]:
    """Return the components of the crate whose folder this is."""
    code = source / "src"
    stages = {stage: dict(_components(code, *where)) for stage, where in STAGES.items()}
    others = {name: _fields(code / file, struct) for name, (file, struct) in OTHERS.items()}
    values = {name: _variants((code / file).read_text("utf-8"), enum) for name, (file, enum) in VALUES.items()}
    return {"crate": source.name, "components": stages, "others": others, "values": values}


def _components(code: Path, folder: str, enum: str) -> Iterator[tuple[str, list[str]]]:
    text = (code / folder / "mod.rs").read_text("utf-8")
    modules = {name.strip(): path for path, one, several in _USE.findall(text) for name in (several or one).split(",")}
    for variant in re.findall(r"\((\w+)\)", _body(text, "enum", enum)):
        path = code.joinpath(*modules[variant].split("::"))
        if folder == "models":
            saved = (path / "serialization.rs").read_text("utf-8")
            yield variant, [name for name in re.findall(r'serialize_field\("(\w+)"', saved) if name != "type"]
        else:
            yield variant, _fields(path / "pre_tokenizer.rs" if path.is_dir() else path.with_suffix(".rs"), variant)


def _fields(file: Path, struct: str) -> list[str]:
    text = file.read_text("utf-8")
    if f"spm_precompiled::{struct}" in text:
        crate = max(file.parents[2].parent.glob("spm_precompiled-*"))
        text = (crate / "src" / "lib.rs").read_text("utf-8")
    body = re.sub(r'#\[serde\((?:skip|rename = "type")\)\]\s+(?:pub )?\w+: [^\n]*', "", _body(text, "struct", struct))
    return _FIELD.findall(body)


def _variants(text: str, enum: str) -> list[str]:
    return re.findall(r"^    (\w+)[,( {]", _body(text, "enum", enum), re.MULTILINE)


def _body(text: str, kind: str, name: str) -> str:
    found = re.search(rf"^pub {kind} {name}(?:;|\((?:.*?)\);| \{{\}}| \{{\n(.*?)^\}})", text, re.MULTILINE | re.DOTALL)
    if found is None:
        sys.exit(f"{kind} {name} is not there")
    return found[1] or ""


if __name__ == "__main__":
    FILE.write_text(json.dumps(extract(Path(sys.argv[1])), indent=1) + "\n", "utf-8")
