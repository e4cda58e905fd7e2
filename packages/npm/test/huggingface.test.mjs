// The cases without Python: @huggingface/tokenizers by the adapter, and against the known failures, of the harness.

import { fileURLToPath } from "node:url";
import { register } from "../index.mjs";
import { adapter } from "../../../conformance/adapters/node/adapter.mjs";

const file = new URL("../../../conformance/adapters/node/known-failures.yaml", import.meta.url);
register(adapter, { knownFailures: fileURLToPath(file) });
