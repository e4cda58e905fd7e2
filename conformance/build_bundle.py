"""Build hook of hatchling: compile the bundle, so that the wheel has one JSON file in place of fixtures/.

The sources of the adapters in other languages go with it, of which a release can be named.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BundleHook(BuildHookInterface[Any]):
    """Adds ``tokspec/fixtures/bundle.json``; an editable installation reads the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the bundle into a temporary folder, so that ``dist`` has nothing but what is uploaded."""
        if version == "editable":
            return
        sys.path.insert(0, str(Path(self.root) / "conformance"))
        from tokspec.adapters.programs import sources
        from tokspec.suite.cases import write_bundle
        from tokspec.suite.fixtures import load_suite
        from tokspec.suite.origins import bundle_origins
        from tokspec.suite.specification import load_specification

        self._folder = TemporaryDirectory()
        file = Path(self._folder.name) / "bundle.json"
        write_bundle(file, load_suite(), load_specification(), origins=bundle_origins())
        build_data["force_include"][str(file)] = "tokspec/fixtures/bundle.json"
        for pack in sorted((Path(self.root) / "fixtures" / "packs").glob("*.jsonl")):
            build_data["force_include"][str(pack)] = f"tokspec/fixtures/packs/{pack.name}"
        results = Path(self.root) / "fixtures" / "results.json"
        build_data["force_include"][str(results)] = "tokspec/fixtures/results.json"
        for source, place in sources():
            build_data["force_include"][str(source)] = f"tokspec/programs/{place}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the temporary folder."""
        if version != "editable":
            self._folder.cleanup()
