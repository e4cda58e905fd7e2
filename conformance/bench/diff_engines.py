"""What a comparison of files costs: every engine against a bare loop over the same two implementations, on one file.

    python conformance/bench/diff_engines.py TEXT MODEL --impl tokenizers --against tiktoken --megabytes 1000

repeats TEXT, a file of lines, up to the size, and prints a line a measurement: seconds, MB a second, megabytes that all
processes have for themselves at their peak, and how it compares with the first, which is the bare loop. That decodes
each line, encodes it by the fastest call of each library, compares the ids and does nothing else. Results are held to
be the same, byte by byte, and to count as many lines as the loop. Where the machine's speed changes, repeat the
runs (``--runs bare,local-1,bare,local-1``): the ratios at the end are of medians.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any, NamedTuple

import psutil

from tokspec.adapters.registry import find
from tokspec.compare.models import write_for
from tokspec.formats.user_model import read_user_model

LOOK_SECONDS = 0.5


class Measured(NamedTuple):
    """A run: its seconds, the peak of its memory in megabytes, and what it wrote."""

    seconds: float
    memory: float
    output: bytes


def main() -> int:
    """Measure, print, and say whether all results are the same."""
    parser = argparse.ArgumentParser()
    parser.add_argument("text", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--impl", default="tokenizers")
    parser.add_argument("--against", default="tiktoken")
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--runs", default="bare,local-1,local-2,ray-2,dask-2")
    parser.add_argument("--bare", action="store_true", help="only the loop, over TEXT as it is")
    given = parser.parse_args()
    if given.bare:
        return bare(given.text, given.model, (given.impl, given.against))
    with TemporaryDirectory(dir=given.text.parent) as name:
        folder = Path(name)
        corpus = repeated(given.text, folder / "corpus.txt", given.megabytes * 10**6)
        return measure_all(corpus, folder, given)


def measure_all(corpus: Path, folder: Path, given: argparse.Namespace) -> int:
    """Measure one run after the other."""
    size, seconds, digests = corpus.stat().st_size / 1e6, dict[str, list[float]](), dict[str, set[str]]()
    counts = dict[str, set[int]]()
    print(f"{size:,.0f} MB; {given.impl} against {given.against}; {os.cpu_count()} processors", flush=True)
    print("| run | s | MB/s | peak MB | of the first |\n| --- | ---: | ---: | ---: | ---: |", flush=True)
    for run in given.runs.split(","):
        measured = measure(run, command_of(run, corpus, folder / run, given))
        seconds.setdefault(run, []).append(measured.seconds)
        share = measured.seconds / next(iter(seconds.values()))[0]
        numbers = f"{measured.seconds:.1f} | {size / measured.seconds:.2f} | {measured.memory:.0f} | {share:.2f}"
        print(f"| {run} | {numbers} |", flush=True)
        if run == "bare":
            different = json.loads(measured.output)["different"]
        else:
            different = different_in(folder / run / "results")
            digests.setdefault(run, set()).add(digest(folder / run / "results"))
            shutil.rmtree(folder / run)
        counts.setdefault(run, set()).add(different)
    print(*targets({run: statistics.median(each) for run, each in seconds.items()}), sep="\n")
    same = all(len(set().union(*found.values())) <= 1 for found in (digests, counts))
    print(f"results of {', '.join(digests)}: {'the same' if same else digests}")
    print(f"lines that differ: {', '.join(f'{count:,} by {run}' for run, found in counts.items() for count in found)}")
    return 0 if same else 1


def targets(seconds: Mapping[str, float]) -> Iterator[str]:
    """Say what two of the runs come to, and what they are meant to."""
    if seconds.keys() >= {"bare", "local-1"}:
        yield f"one worker takes {seconds['local-1'] / seconds['bare']:.2f} of the bare loop's time; at most 1.15"
    if seconds.keys() >= {"local-1", "local-2"}:
        yield f"two workers are {seconds['local-1'] / seconds['local-2']:.2f} times as fast as one; at least 1.7"


def command_of(run: str, corpus: Path, output: Path, given: argparse.Namespace) -> list[str]:
    """Return the arguments of Python for the bare loop, or for a comparison by ``ENGINE-WORKERS``."""
    if run == "bare":
        named = ["--impl", given.impl, "--against", given.against]
        return [sys.argv[0], str(corpus), str(given.model), "--bare", *named]
    engine, _, workers = run.partition("-")
    how = ["--model", str(given.model), "--engine", engine, "--jobs", workers, "-o", str(output)]
    return ["-m", "tokspec", "diff", given.impl, given.against, str(corpus), *how]


def repeated(text: Path, target: Path, size: int) -> Path:
    """Write a file again and again until the size is reached, whole lines only."""
    with target.open("wb") as stream:
        while stream.tell() < size:
            with text.open("rb") as source:
                for line in source:
                    stream.write(line if line.endswith(b"\n") else line + b"\n")
                    if stream.tell() >= size:
                        break
    return target


def measure(name: str, arguments: Sequence[str]) -> Measured:
    """Run a command of this Python, and look at the memory of it and of all that it starts."""
    environment = {**os.environ, "TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1"}
    begin, peak = time.monotonic(), 0.0
    with TemporaryFile() as output:
        process = subprocess.Popen([sys.executable, *arguments], env=environment, stdout=output)
        while process.poll() is None:
            peak = max(peak, sum(memory(each) for each in family(process.pid)) / 1e6)
            time.sleep(LOOK_SECONDS)
        seconds = time.monotonic() - begin
        if process.returncode not in ((0,) if name == "bare" else (0, 1)):
            raise SystemExit(f"{name}: exit status {process.returncode}")
        output.seek(0)
        return Measured(seconds, peak, output.read())


def family(process: int) -> Iterator[psutil.Process]:
    """Return a process and its descendants."""
    try:
        parent = psutil.Process(process)
        yield from (parent, *parent.children(recursive=True))
    except psutil.Error:
        return


def memory(process: psutil.Process) -> int:
    """Return the bytes that are a process's own; what is shared counts once in none."""
    try:
        return int(process.memory_full_info().uss)
    except psutil.Error:
        return 0


def different_in(results: Path) -> int:
    """Return how many texts differ by the results of units."""
    return sum(json.loads(file.read_bytes())["different"] for file in results.glob("??/*.json"))


def digest(folder: Path) -> str:
    """Return what no other results have."""
    whole = hashlib.sha256()
    files = sorted(folder.glob("??/*.json"))
    if not files:
        raise SystemExit(f"{folder}: there are no results")
    for file in files:
        whole.update(file.name.encode() + file.read_bytes())
    return whole.hexdigest()


def encoder_of(adapter: Any, loaded: Any) -> Callable[[str], Any]:
    """Return the fastest call of a library, or that of its adapter."""
    if hasattr(adapter, "encoder"):
        quick: Callable[[str], Any] = adapter.encoder(loaded)
        return quick
    return lambda text: adapter.run("encode", loaded, {"text": text, "add_special_tokens": False})["ids"]


def bare(text: Path, model: Path, names: Sequence[str]) -> int:
    """Encode every line twice, and compare."""
    encoders = []
    own = read_user_model(model)
    for name in names:
        adapter = find(name).make()
        format, content = write_for(own, adapter.hello().formats, name)
        encoders.append(encoder_of(adapter, adapter.load(format, content)))
    one, other = encoders
    documents = different = 0
    with text.open("rb") as stream:
        for line in stream:
            document = line.decode().rstrip("\n")
            documents += 1
            if one(document) != other(document):
                different += 1
    print(json.dumps({"documents": documents, "different": different}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
