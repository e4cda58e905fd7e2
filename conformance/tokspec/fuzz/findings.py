"""What was found: each difference once, by clause, stage and kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tokspec.fuzz.clauses import clause_of
from tokspec.fuzz.example import Example
from tokspec.fuzz.oracle import Comparison
from tokspec.judge.verdicts import Result
from tokspec.protocol.messages import Answer

__all__ = ["Finding", "Findings", "Group", "group_before_shrinking"]

Group = tuple[str, ...]


@dataclass
class Finding:
    """A difference: the smallest example that shows it, and the verdict on that.

    ``check`` is what noticed it, ``first`` the example in which it was met, ``examples`` and ``seconds`` when that was,
    and ``times`` how often. ``oracle`` is the finding that the same example makes beside the oracle, where a property
    does not hold.
    """

    check: str
    clause: str
    kind: str
    example: Example
    first: Example
    result: Result
    times: int = 1
    examples: int = 0
    seconds: float = 0.0
    known: str = ""
    oracle: Finding | None = None

    @property
    def group(self) -> Group:
        """What two findings have in common that are one; a model that is not refused is that for every operation."""
        operation = "load" if self.kind.endswith("invalid_model") else self.example.operation
        return (self.check, self.clause, operation, self.kind)


@dataclass
class Findings:
    """All findings, by their group, and how often each kind of difference was met before it was shrunk."""

    by_group: dict[Group, Finding] = field(default_factory=dict)
    met: Counter[Group] = field(default_factory=Counter)
    shrunk: Counter[Group] = field(default_factory=Counter)
    led_to: dict[Group, Group] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.by_group.values())

    def __len__(self) -> int:
        return len(self.by_group)

    def add(self, before: Group, finding: Finding) -> None:
        """Add a finding; of two that are one the smaller example stays."""
        self.led_to[before] = finding.group
        self.shrunk[before] += 1
        known = self.by_group.get(finding.group)
        if known is None:
            self.by_group[finding.group] = finding
            return
        known.times += 1
        if finding.example.size < known.example.size:
            known.example, known.first, known.result = finding.example, finding.first, finding.result
            known.oracle = finding.oracle

    def counted(self) -> None:
        """Add to the findings what was met of their kinds and not shrunk; of several the last one gets it."""
        for before, group in self.led_to.items():
            self.by_group[group].times += self.met[before] - self.shrunk[before]
            self.shrunk[before] = self.met[before]


def group_before_shrinking(check: str, clause: str, example: Example, comparison: Comparison) -> Group:
    """Say roughly what a difference is about: clause and operation, how it differs, and the parts of its model.

    >>> example, comparison = Example({"type": "bpe"}, "encode", {}), Comparison("differs", "tokens")
    >>> group_before_shrinking("twice gives the same", "ERROR-1", example, comparison)
    ('twice gives the same', 'ERROR-1', 'encode', 'tokens', 'bpe', '', '', '')
    """
    model = example.model
    stages = [str(model.get(stage, {}).get("type", "")) for stage in ("normalizer", "pre_tokenizer")]
    around = _NEEDED.get(example.operation, (0, 1))
    relevant = [stage if index in around else "" for index, stage in enumerate(stages)]
    decoder = model.get("decoder", {}).get("type", "") if example.operation == "decode" else ""
    kind = "" if example.operation in ("normalize", "pre_tokenize") else str(model.get("type", ""))
    named = clause or _clause(example, comparison)
    return (check, named, example.operation, comparison.kind, kind, *relevant, decoder)


#: The stages that matter to an operation: the normalizer is 0, the pre-tokenizer 1.
_NEEDED = {"normalize": (0,), "pre_tokenize": (1,), "decode": ()}


def finding_of(check: str, clause: str, example: Example, first: Example, comparison: Comparison) -> Finding:
    """Make a finding of an example that is as small as it gets; ``clause`` is that of the check, if it has one."""
    if comparison.result is None:
        raise ValueError("only what differs is a finding")
    named = clause or _clause(example, comparison)
    return Finding(check, named, comparison.kind, example, first, comparison.result)


def _clause(example: Example, comparison: Comparison) -> str:
    result = comparison.result
    right = result.expected.get("expect", {}) if result else {}
    given = result.reply.result if result and isinstance(result.reply, Answer) else {}
    return clause_of(example, comparison.kind, right, given)
