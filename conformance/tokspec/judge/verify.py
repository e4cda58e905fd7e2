"""Checking whether an implementation keeps state between requests: every case is run again, among other cases.

An answer that differs is a state leak, whether or not the first one was right; it is never called flaky. Every case is
run four more times:

* twice in a shuffled order, in one session: the second time, all other cases were run before it;
* once in that order backwards: the cases that came before it now come after it, so that of two cases each is run before
  the other once;
* once among a few others in one of :data:`STARTS` new sessions. The first case of each has nothing before it. A case
  whose answer differs only in first place is found if it is one of these; another seed selects others.

A separate session for every case would always find that, but would take minutes if a program needs a tenth of a second
to start.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain, zip_longest
from typing import Any

from tokspec.adapter import Hello
from tokspec.base.display import compact, shorten
from tokspec.base.errors import AdapterFault
from tokspec.judge.runner import Run, make_request
from tokspec.judge.truncate import truncate_reply
from tokspec.judge.verdicts import Result, Verdict, join_rows
from tokspec.protocol.messages import Answer, Fault, Refused, Reply, Request, is_unsupported
from tokspec.sessions.session import Session

#: In how many new sessions the answered cases are run again, a part of them in each.
STARTS = 12


def verify_run(
    run: Run, start: Callable[[], Session], seed: int = 0, progress: Callable[[int], None] = lambda requests: None
) -> Run:
    """Run every case again: twice in a shuffled order, once in that order backwards, and once in a new session.

    Args:
        run: the run of the cases in their order.
        start: opens a new session with the same implementation.
        seed: the seed of the order.
        progress: called with the number of requests made since the last call; in total there are
            :func:`count_requests`.
    """
    results = {(index, row): each for index, result in enumerate(run.results) for row, each in _questions(result)}
    places = {number: place for number, place in enumerate(results) if results[place].verdict is not Verdict.NOT_RUN}
    asked = {number: make_request(results[place].case, run.hello) for number, place in places.items()}
    answered = [number for number, place in places.items() if _is_answered(results[place])]
    for number, reply, company in _again(asked, answered, _same(run.hello, start), seed, progress):
        place = places[number]
        if results[place].verdict is not Verdict.STATE_LEAK:
            results[place] = _compared(results[place], reply, company)
    return replace(run, results=tuple(_joined(result, index, results) for index, result in enumerate(run.results)))


def count_requests(run: Run) -> int:
    """Return the number of requests that verifying a run takes."""
    questions = [each for result in run.results for _, each in _questions(result)]
    asked = [each for each in questions if each.verdict is not Verdict.NOT_RUN]
    return 3 * len(asked) + sum(map(_is_answered, asked))


def estimate_seconds(starting: float, asking: float) -> float:
    """Estimate the seconds for verifying a run from the seconds that the start and the cases took."""
    at_once = min(STARTS, os.cpu_count() or 1)
    return starting * (2 + STARTS / at_once) + asking * (3 + 1 / at_once)


def _is_answered(result: Result) -> bool:
    """Return whether a case is worth a new session, which unsupported cases and cases without a reply are not."""
    return result.reply is not None and not is_unsupported(result.reply)


def _questions(result: Result) -> Iterator[tuple[int, Result]]:
    """Return the result of each question of a case, with the number of its row; a table that was not run has none."""
    return enumerate(result.rows) if result.case.rows else iter([(0, result)])


def _joined(result: Result, index: int, results: Mapping[tuple[int, int], Result]) -> Result:
    """Return the result of a case after all were run again; a table keeps its result unless one of its rows leaks."""
    if not result.case.rows:
        return results[index, 0]
    rows = [results[index, row] for row in range(len(result.rows))]
    leaks = any(row.verdict is Verdict.STATE_LEAK for row in rows)
    return join_rows(result.case, rows) if leaks else result


def _same(hello: Hello, start: Callable[[], Session]) -> Callable[[], Session]:
    """Return a function that starts sessions and checks that each gives the first description again (PROTO-6)."""

    def starting() -> Session:
        session = start()
        if session.hello == hello:
            return session
        session.close()
        raise AdapterFault("protocol", "hello changed after a restart")

    return starting


def _again(
    asked: Mapping[int, Request],
    answered: Sequence[int],
    start: Callable[[], Session],
    seed: int,
    progress: Callable[[int], None],
) -> Iterator[tuple[int, Reply, str]]:
    """Return each request's number with each reply, and a description of the order in which it was made."""
    order = list(asked)
    random.Random(seed).shuffle(order)
    shuffled = f"in the shuffled order of seed {seed}"
    for place, reply in _ask([asked[number] for number in order * 2], start):
        progress(1)
        again = "" if place < len(order) else "the second time "
        yield order[place % len(order)], reply, f"{again}{shuffled}"
    backwards = order[::-1]
    for place, reply in _ask([asked[number] for number in backwards], start):
        progress(1)
        yield backwards[place], reply, f"{shuffled}, backwards"
    wanted = set(answered)
    dealt = _alternate([number for number in order if number in wanted], asked)
    parts = [dealt[first::STARTS] for first in range(min(STARTS, len(dealt)))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        replies = pool.map(lambda part: list(_ask([asked[number] for number in part], start)), parts)
        for part, found in zip(parts, replies, strict=True):
            progress(len(part))
            for place, reply in found:
                others = f"after {place} other{'s' if place > 1 else ''}" if place else "alone"
                yield part[place], reply, f"{others}, in a new process"


def _alternate(order: Sequence[int], asked: Mapping[int, Request]) -> list[int]:
    """Order requests so that operations and types of models alternate, and the first few have as many as possible."""
    kinds: dict[tuple[str, str], list[int]] = {}
    for number in order:
        kinds.setdefault((asked[number].operation, asked[number].model.get("type", "")), []).append(number)
    return [number for number in chain(*zip_longest(*kinds.values())) if number is not None]


def _ask(requests: Sequence[Request], start: Callable[[], Session]) -> Iterator[tuple[int, Reply]]:
    """Make requests in a new session; if it cannot be started, each request has that fault as its reply."""
    try:
        session = start()
    except AdapterFault as fault:
        yield from ((place, Fault(fault.kind, f"before hello: {fault.message}")) for place in range(len(requests)))
        return
    with session:
        for place, reply in session.ask(requests):
            yield place, truncate_reply(reply)


def _compared(result: Result, reply: Reply, company: str) -> Result:
    if result.reply is not None and _seen(result.reply) == _seen(reply):
        return result
    first, other = (shorten(compact(_seen(each))) for each in (result.reply, reply))
    detail = f"was {first} at first, and {other} {company}"
    effects = result.effects or result.asks[:1]
    return replace(result, verdict=Verdict.STATE_LEAK, detail=detail, difference=None, effects=effects)


def _seen(reply: Reply | None) -> Any:
    """Return the part of a reply that has to be the same each time; messages of refusals and faults may differ."""
    if isinstance(reply, Answer):
        return reply.result
    if isinstance(reply, Refused):
        return {"refused as": reply.reason}
    return {"fault": reply.kind} if reply else None
