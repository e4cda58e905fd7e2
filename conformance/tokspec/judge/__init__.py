"""From replies to verdicts: comparison, the run over all cases, known failures, verification and diagnosis."""
