"""Five megabytes of mixed text: tokfast with GPT-2's ranks and tiktoken make the same tokens of all of it."""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path
from types import ModuleType

import pytest
from asking import TEXTS
from published import model_file, tiktoken_encoding

from tokfast import FastTokenizer
from tokref import Choices, from_mapping
from tokspec.formats import read
from tokspec.formats.on_disk import content_of

pytestmark = pytest.mark.interop

SIZE = 5_000_000


def mixed_text() -> str:
    """Return the suite's texts, and then English, sources and many languages, so many bytes of UTF-8."""
    texts = _measured_on()
    first = TEXTS["all/lines"]
    rest = SIZE - len(first.encode())
    text: str = first + texts.text_of("English", rest // 2) + texts.text_of("mixed", rest - rest // 2)
    return text


def _measured_on() -> ModuleType:
    """Import what measurements take their texts from, which is no package."""
    file = Path(__file__).parents[2] / "bench" / "texts.py"
    spec = importlib.util.spec_from_file_location("texts_to_measure_on", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "choices",
    [Choices(bpe_pairs="in_vocabulary"), Choices(bpe_merge_order="lowest_rank")],
    ids=["by ranks", "by merges"],
)
def test_tokfast_agrees_with_tiktoken(choices: Choices, capsys: pytest.CaptureFixture[str]) -> None:
    text = mixed_text()
    stages = {"pre_tokenizer": {"type": "byte_level"}, "decoder": {"type": "byte_level"}}
    content = {**content_of("vocab.tiktoken", model_file("r50k_base")), "beside": stages}
    tokenizer = from_mapping(read("vocab.tiktoken", content))
    encoding = tiktoken_encoding("r50k_base")
    times = [time.perf_counter()]
    expected = encoding.encode_ordinary(text)
    times.append(time.perf_counter())
    found = FastTokenizer(tokenizer, choices).encode_ids(text)
    times.append(time.perf_counter())
    assert found == expected
    assert SIZE - 10 < len(text.encode()) <= SIZE
    with capsys.disabled():
        seconds = f"tiktoken {times[1] - times[0]:.1f} s, tokfast {times[2] - times[1]:.1f} s"
        print(f"\n{len(text.encode()):,} bytes, {len(found):,} tokens: {seconds}")
