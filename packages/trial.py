"""Try a release whole: publish to registries of this machine, and judge with what they give in bare folders.

    python packages/trial.py FOLDER

FOLDER must be empty, and holds all that is made. pypiserver, twine and build are needed, and npm and cargo; nothing is
sent to a registry elsewhere. Status 1 if something that was installed does not judge as it should.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tokspec import __version__

PACKAGES = Path(__file__).parent

#: Gives no ids for any text, so that a package has failures to show.
JAVASCRIPT = """\
import { register } from "tokspec-cases";
const hello = { formats: ["tokenizer.json"], encode_fields: ["ids"] };
register({ hello, load: () => null, operations: { encode: () => ({ ids: [] }) } });
"""
RUST = """\
use serde_json::{Value, json};
use tokspec_cases::{Adapter, Refusal};

struct Mine;

impl Adapter for Mine {
    type Model = ();
    fn hello(&self) -> Value {
        json!({"formats": ["tokenizer.json"], "operations": ["encode"], "encode_fields": ["ids"]})
    }
    fn load(&self, _format: &str, _content: &Value) -> Result<(), Refusal> {
        Ok(())
    }
    fn run(&self, _operation: &str, _model: &(), _input: &Value) -> Result<Value, Refusal> {
        Ok(json!({"ids": []}))
    }
}

fn main() {
    tokspec_cases::run(&Mine, "").exit();
}
"""


def main(folder: Path) -> int:
    """Publish and use all three packages; the last line of each is shown beside what it should have."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        print(f"{folder}: is not empty; name a new folder", file=sys.stderr)
        return 2
    counts: dict[str, str] = {}
    for name, trial, wanted in (
        ("PyPI", pypi, rf"tokref {__version__} conforms: (\d+) cases = \1 pass"),
        ("npm", npm, r"# fail ([1-9]\d*)"),
        ("cargo", cargo, r"([1-9]\d*) failed; "),
    ):
        (folder / name).mkdir()
        found = next((said for line in reversed(trial(folder / name)) if (said := re.search(wanted, line))), None)
        print(f"{name}: {found.string if found else f'nothing said {wanted!r}'}", flush=True)
        counts[name] = found[1] if found else ""
    if all(counts.values()) and counts["npm"] != counts["cargo"]:
        print("npm and cargo judge the same answers, and do not count as many failures", file=sys.stderr)
    return 0 if all(counts.values()) and counts["npm"] == counts["cargo"] else 1


def pypi(folder: Path) -> list[str]:
    """Upload the wheel and the sources to pypiserver, install them from there, and run the suite."""
    _call(sys.executable, "-m", "build", "--outdir", folder / "dist", PACKAGES.parent)
    (folder / "served").mkdir()
    with _served(sys.executable, "-m", "pypiserver", "run", "-a", ".", "-P", ".", folder / "served") as address:
        upload = ("-m", "twine", "upload", "--repository-url", address, "-u", "any", "-p", "any")
        _call(sys.executable, *upload, *(folder / "dist").iterdir())
        _call(sys.executable, "-m", "venv", folder / "bare")
        _call(
            folder / "bare/bin/pip",
            "install",
            "-q",
            "--extra-index-url",
            f"{address}simple/",
            f"tokspec=={__version__}",
        )
    return _call(folder / "bare/bin/tokspec", "run", cwd=folder)


def npm(folder: Path) -> list[str]:
    """Publish to verdaccio, install from there, and judge by ``node --test``."""
    _call("npm", "install", "--no-audit", "--no-fund", "verdaccio@5.9.0", cwd=folder)
    anybody = {"**": {"access": "$all", "publish": "$all"}}
    config = {"storage": "./storage", "auth": {"htpasswd": {"file": "./htpasswd"}}, "packages": anybody}
    (folder / "config.yaml").write_text(json.dumps({**config, "max_body_size": "100mb"}), "utf-8")
    with _served(folder / "node_modules/.bin/verdaccio", "--config", "config.yaml", cwd=folder) as address:
        (folder / "npmrc").write_text(f"{address.removeprefix('http:')}:_authToken=none\n", "utf-8")
        npmrc = ("--registry", address, "--userconfig", folder / "npmrc")
        _call("npm", "publish", *npmrc, cwd=PACKAGES / "npm")
        bare = folder / "bare"
        bare.mkdir()
        _call("npm", "init", "-y", cwd=bare)
        _call("npm", "install", *npmrc, "--no-audit", "--no-fund", f"tokspec-cases@{__version__}", cwd=bare)
    (bare / "mine.test.mjs").write_text(JAVASCRIPT, "utf-8")
    return _call("node", "--test", "--test-reporter=tap", cwd=bare, fails=True)


def cargo(folder: Path) -> list[str]:
    """Put the crate into an index in a folder, add it from there, and judge by ``cargo test``."""
    _call(
        "cargo",
        "package",
        "--locked",
        "--no-verify",
        "--allow-dirty",
        "--target-dir",
        folder / "target",
        cwd=PACKAGES / "crate",
    )
    crate = folder / "target/package" / f"tokspec-cases-{__version__}.crate"
    _write_index(folder / "index", crate)
    bare = folder / "bare"
    _call("cargo", "new", "-q", "--lib", "--vcs", "none", bare)
    (bare / ".cargo").mkdir()
    (bare / ".cargo/config.toml").write_text(f'[registries.here]\nindex = "{(folder / "index").as_uri()}"\n', "utf-8")
    _call("cargo", "add", "--dev", "--registry", "here", f"tokspec-cases@{__version__}", cwd=bare)
    _call("cargo", "add", "--dev", "serde_json", cwd=bare)
    with (bare / "Cargo.toml").open("a", encoding="utf-8") as file:
        file.write('\n[[test]]\nname = "mine"\nharness = false\n')
    (bare / "tests").mkdir()
    (bare / "tests/mine.rs").write_text(RUST, "utf-8")
    return _call("cargo", "test", "--test", "mine", cwd=bare, fails=True)


def _write_index(folder: Path, crate: Path) -> None:
    """Write what a registry says of one crate, as cargo's reference has it ("Registry Index"), and commit it."""
    with tarfile.open(crate) as archive:
        manifest = archive.extractfile(f"{crate.stem}/Cargo.toml")
        said = tomllib.loads(manifest.read().decode() if manifest else "")
    needs = [
        {
            "name": name,
            "req": need["version"],
            "features": need.get("features", []),
            "optional": False,
            "default_features": need.get("default-features", True),
            "target": None,
            "kind": kind,
            "registry": _others(),
        }
        for kind, table in (("normal", "dependencies"), ("dev", "dev-dependencies"))
        for name, need in said[table].items()
    ]
    entry = {
        "name": "tokspec-cases",
        "vers": said["package"]["version"],
        "deps": needs,
        "features": {},
        "yanked": False,
    }
    entry["cksum"] = hashlib.sha256(crate.read_bytes()).hexdigest()
    place = folder / "to/ks/tokspec-cases"
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps(entry) + "\n", "utf-8")
    files = {"dl": f"{crate.parent.as_uri()}/{{crate}}-{{version}}.crate"}
    (folder / "config.json").write_text(json.dumps(files), "utf-8")
    for words in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=trial", "-c", "user.email=trial@localhost", "commit", "-qm", "index"],
    ):
        _call("git", *words, cwd=folder)


def _others() -> str:
    """Return the index from which the dependencies of the crate come, as its lock file names it."""
    lock = tomllib.loads((PACKAGES / "crate/Cargo.lock").read_text("utf-8"))
    source: str = next(one["source"] for one in lock["package"] if "source" in one)
    return source.removeprefix("registry+")


def _call(*words: str | Path, cwd: Path | None = None, fails: bool = False) -> list[str]:
    """Return the lines that a command prints; one that ends badly ends the trial, unless it is meant to."""
    done = subprocess.run([*map(str, words)], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode and not fails:
        sys.exit(f"{done.stdout}\n{' '.join(map(str, words))}: ends with {done.returncode}")
    return done.stdout.splitlines()


@contextmanager
def _served(*words: str | Path, cwd: Path | None = None) -> Iterator[str]:
    """Serve at a free port for a while, and return the address."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    name = "--listen" if "verdaccio" in str(words[0]) else "-p"
    command: Sequence[str] = [*map(str, words), name, str(port)]
    with subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            until = time.monotonic() + 30
            while True:
                with socket.socket() as asked:
                    if asked.connect_ex(("localhost", port)) == 0:
                        break
                if server.poll() is not None or time.monotonic() > until:
                    sys.exit(f"{' '.join(command)}: does not serve")
                time.sleep(0.1)
            yield f"http://localhost:{port}/"
        finally:
            server.terminate()


if __name__ == "__main__":
    for needed in ("npm", "cargo", "git"):
        if shutil.which(needed) is None:
            sys.exit(f"needs {needed}")
    os.environ["PYTHONNOUSERSITE"] = "1"
    sys.exit(main(Path(sys.argv[1]).resolve()))
