"""Whether an implementation keeps something from one request to the next: every case is asked again, in other company.

An answer that differs is a state leak, whether or not the first one was right; it is never called flaky.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from tokspec.adapter import Hello
from tokspec.base.display import compact, shorten
from tokspec.base.errors import AdapterFault
from tokspec.judge.runner import Run, make_request
from tokspec.judge.truncate import truncate_reply
from tokspec.judge.verdicts import Result, Verdict, join_rows
from tokspec.protocol.messages import Answer, Fault, Refused, Reply, Request
from tokspec.sessions.session import Session

__all__ = ["WAYS", "verify_run"]

#: How often the cases are asked in another order, twice each time.
SHUFFLED = 2

#: In how many ways the cases are asked again; the last is alone.
WAYS = 2 * SHUFFLED + 1


def verify_run(
    run: Run, start: Callable[[], Session], seed: int = 0, progress: Callable[[str], None] = lambda company: None
) -> Run:
    """Ask every case of a run again, shuffled, twice, and then each that is offered in a session of its own.

    Args:
        run: what came of asking the cases in their order.
        start: opens a new session with the same implementation.
        seed: of the orders.
        progress: told of each of the :data:`WAYS` when it is done.
    """
    results = {(index, row): each for index, result in enumerate(run.results) for row, each in _questions(result)}
    places = {number: place for number, place in enumerate(results) if results[place].verdict is not Verdict.NOT_RUN}
    asked = {number: make_request(results[place].case) for number, place in places.items()}
    for company, replies in _again(run.hello, asked, _same(run.hello, start), seed):
        for number, reply in replies.items():
            place = places[number]
            if results[place].verdict is not Verdict.STATE_LEAK:
                results[place] = _compared(results[place], reply, company)
        progress(company)
    return replace(run, results=tuple(_joined(result, index, results) for index, result in enumerate(run.results)))


def _questions(result: Result) -> Iterator[tuple[int, Result]]:
    """Return the result of each question of a case, with the number of its row; a table that was not run has none."""
    return enumerate(result.rows) if result.case.rows else iter([(0, result)])


def _joined(result: Result, index: int, results: Mapping[tuple[int, int], Result]) -> Result:
    """Return the result of a case after all was asked again; a table is as it was, unless a row of it leaks."""
    if not result.case.rows:
        return results[index, 0]
    rows = [results[index, row] for row in range(len(result.rows))]
    leaks = any(row.verdict is Verdict.STATE_LEAK for row in rows)
    return join_rows(result.case, rows) if leaks else result


def _same(hello: Hello, start: Callable[[], Session]) -> Callable[[], Session]:
    """Start sessions, and hold each to the description that was given at first (PROTO-6)."""

    def starting() -> Session:
        session = start()
        if session.hello == hello:
            return session
        session.close()
        raise AdapterFault("protocol", "hello changed after a restart")

    return starting


def _again(
    hello: Hello, asked: Mapping[int, Request], start: Callable[[], Session], seed: int
) -> Iterator[tuple[str, Mapping[int, Reply]]]:
    """Return the replies of each way to ask, and what to call it."""
    generator = random.Random(seed)
    for time in range(1, SHUFFLED + 1):
        order = list(asked)
        generator.shuffle(order)
        first, second = _twice_in_order(asked, order, start)
        yield f"in shuffled order {time} of seed {seed}", first
        yield f"the second time in shuffled order {time} of seed {seed}", second
    offered = [index for index, request in asked.items() if request.operation in hello.operations]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        alone = pool.map(lambda index: _in_order(asked, [index], start), offered)
        yield "alone, newly started", {index: reply for replies in alone for index, reply in replies.items()}


def _twice_in_order(
    asked: Mapping[int, Request], order: Sequence[int], start: Callable[[], Session]
) -> tuple[Mapping[int, Reply], Mapping[int, Reply]]:
    """Ask everything, and then everything again, in one session."""
    numbered = dict(enumerate([asked[index] for index in order] * 2))
    replies = _in_order(numbered, [*numbered], start)
    halves = range(len(order)), range(len(order), 2 * len(order))
    first, second = ({order[place % len(order)]: replies[place] for place in half} for half in halves)
    return first, second


def _in_order(asked: Mapping[int, Request], order: Sequence[int], start: Callable[[], Session]) -> Mapping[int, Reply]:
    try:
        with start() as session:
            return {
                order[place]: truncate_reply(reply) for place, reply in session.ask([asked[index] for index in order])
            }
    except AdapterFault as fault:
        return {index: Fault(fault.kind, f"before hello: {fault.message}") for index in order}


def _compared(result: Result, reply: Reply, company: str) -> Result:
    if result.reply is not None and _seen(result.reply) == _seen(reply):
        return result
    first, other = (shorten(compact(_seen(each))) for each in (result.reply, reply))
    detail = f"was {first} at first, and {other} {company}"
    return replace(result, verdict=Verdict.STATE_LEAK, detail=detail, difference=None)


def _seen(reply: Reply | None) -> Any:
    """Return what has to be the same each time; what a refusal or a fault says about itself may differ."""
    if isinstance(reply, Answer):
        return reply.result
    if isinstance(reply, Refused):
        return {"refused as": reply.reason}
    return {"fault": reply.kind} if reply else None
