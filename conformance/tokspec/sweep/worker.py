"""Has units done by a process of its own, and finds out which document is to blame when that process ends.

A process that ends, is silent for too long or takes too much memory says nothing by itself about the document that it
had: others were asked before it, and a process can be ended from outside. So the document is asked alone in a new
process, and only if that ends too is it a finding. What was before it is counted again, what follows goes on. A unit
whose process was ended for no fault of a document has the same result as one that was not disturbed.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from tokspec.base.errors import DataError
from tokspec.sweep.marker import NARROWING, PROGRAM, Place
from tokspec.sweep.plan import Unit, read_header
from tokspec.sweep.process import CellProcess, Death, InputFault, Stopped, described
from tokspec.sweep.tally import WHOLE, Cause, Tally

__all__ = ["InputFault", "Stopped", "Worker"]

#: Starts in a row that may fail, and documents of one unit that may end a process before the rest is left.
STARTS = 3
DEADLY = 20

#: Characters of a document that ended a process which are kept.
_SHOWN = 65536


class Worker:
    """Does units, by a process that is started when it is needed and again when it has ended.

    Args:
        folder: of the sweep.

    Raises:
        DataError: there is no plan.
    """

    def __init__(self, folder: Path) -> None:
        self._header = read_header(folder)
        self._cell = CellProcess(folder, self._header)

    def stop(self) -> None:
        """End the process, from another thread; whoever waits for a tally gets :class:`Stopped`."""
        self._cell.stop()

    def close(self) -> None:
        """End the process, and all that it has started."""
        self._cell.close()

    def tally(self, unit: Unit) -> Tally:
        """Have a unit done.

        Raises:
            InputFault: an input has changed or cannot be read.
            DataError: an implementation does not start.
            Stopped: by :meth:`stop`.
        """
        total, first, deadly = Tally(), 0, 0
        while True:
            reply = self._ask(unit, first, None)
            if isinstance(reply, Tally):
                total.add(reply)
                return total
            number = reply.place.document
            alone = self._alone(unit, number)
            total.add(self._undisturbed(unit, first, number))
            total.add(alone if isinstance(alone, Tally) else self._finding(unit, number, alone))
            deadly += isinstance(alone, Death)
            first = number + 1
            if deadly >= DEADLY:
                rest = self._undisturbed(unit, first, None, asks=False)
                rest.leave(f"left after {DEADLY} documents of the unit ended the process", rest.documents)
                total.add(rest)
                return total

    def _undisturbed(self, unit: Unit, first: int, last: int | None, asks: bool = True) -> Tally:
        """Have a stretch done that was done already, as often as it takes."""
        if first == last:
            return Tally()
        for _ in range(STARTS):
            reply = self._ask(unit, first, last, (), asks)
            if isinstance(reply, Tally):
                return reply
        raise _given_up(unit, reply)

    def _alone(self, unit: Unit, number: int) -> Tally | Death:
        """Ask about one document in a process that was asked nothing else; without making it small, if that ends it."""
        reply = self._ask_alone(unit, number, ())
        if isinstance(reply, Death) and _is_narrowing(reply.place):
            reply = self._ask_alone(unit, number, (number,))
        if isinstance(reply, Death) and reply.message == described(-9):
            reply = self._ask_alone(unit, number, (number,))  # somebody may have been at work twice
        return reply

    def _ask_alone(self, unit: Unit, number: int, bare: Collection[int]) -> Tally | Death:
        if not self._cell.is_fresh:
            self._cell.close()
        return self._ask(unit, number, number + 1, bare)

    def _finding(self, unit: Unit, number: int, death: Death) -> Tally:
        """Make the tally of a document that ends the process."""
        reply = self._cell.ask({"unit": unit.to_json(), "place": number})
        if isinstance(reply, Death):
            raise _given_up(unit, reply)
        file, at, text = reply["place"]
        label = self._header.labels[death.place.side]
        kind = f"{label} crashes" if death.kind == "crash" else f"{label} takes too long"
        shown = text[:_SHOWN]
        cause = Cause(kind, WHOLE, shown, shown, file, at, detail=death.message)
        return Tally(documents=1, bytes=len(text.encode()), different=1, causes={cause.key: cause})

    def _ask(
        self, unit: Unit, first: int, last: int | None, bare: Collection[int] = (), asks: bool = True
    ) -> Tally | Death:
        """Ask; the place of a death is that of a document."""
        question = {"unit": unit.to_json(), "first": first, "last": last, "bare": list(bare), "asks": asks}
        for _ in range(STARTS):
            reply = self._cell.ask(question)
            if isinstance(reply, dict):
                return Tally.from_json(reply["tally"])
            if reply.place.document >= 0:
                return reply
        raise _given_up(unit, reply)


def _given_up(unit: Unit, last: object) -> DataError:
    how = last.message if isinstance(last, Death) else ""
    message = f"is given up: its process ended {STARTS} times, with no document to blame, last by {how}"
    return DataError(message, key=f"unit {unit.id}")


def _is_narrowing(place: Place) -> bool:
    return NARROWING <= place.stage < PROGRAM
