"""Plans: collectives whose arguments are fixed, to be started again and again.

    with wherry.Plan(wherry.alltoall, send, receive, comm) as step:
        for _ in range(steps):
            step.start()
            compute_inside()
            step.wait()

What wherry.h says of wherry_plan holds here too: all ranks make and start their plans in one order.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from wherry.api import collectives, neighborhood, reductions
from wherry.api.library import library, making
from wherry.collective_names import IN_LIBRARY
from wherry.errors import WherryError

__all__ = ["Plan"]

#: Each is a function of one of these modules.
_COLLECTIVES: tuple[Callable[..., None], ...] = tuple(
    getattr(module, name)
    for name in IN_LIBRARY
    for module in (collectives, reductions, neighborhood)
    if hasattr(module, name)
)

#: Whose execution has been started: MPI writes to their arrays, whoever else has forgotten them.
_under_way: set[Plan] = set()


class Plan:
    """One of the collectives with its arguments, which it keeps alive; while an execution is under way, also if nobody
    keeps the plan. A context manager, which frees it.

    Making one is collective over the communicator and raises what the collective itself would. Arrays are C-contiguous;
    their elements may change while no execution is under way. Errors of an execution come from test() or wait().
    """

    def __init__(self, collective: Callable[..., None], /, *arguments: Any, **options: Any) -> None:
        if collective not in _COLLECTIVES:
            names = ", ".join(known.__name__ for known in _COLLECTIVES)
            raise TypeError(f"a plan is of a collective of wherry ({names}), not of {collective!r}")
        self._kept = (arguments, options)
        self._plan: ctypes.c_void_p | None = None
        with making() as made:
            collective(*arguments, **options)
        self._plan = made

    def start(self) -> None:
        """Starts an execution; none may be under way. Local."""
        library().use("plan_start", self._handle())
        _under_way.add(self)

    def test(self) -> bool:
        """Progresses it: whether none is under way any more. Local."""
        over = ctypes.c_int()
        library().use("plan_test", self._handle(), ctypes.byref(over))
        if over.value:
            _under_way.discard(self)
        return bool(over.value)

    def wait(self) -> None:
        """Returns when no execution is under way. Other Python threads run meanwhile."""
        library().use("plan_wait", self._handle())
        _under_way.discard(self)

    @property
    def strategy(self) -> str:
        """What it runs by: a strategy's name, or "native"."""
        text: bytes = library().ask("plan_strategy", ctypes.c_char_p, self._handle())
        return text.decode()

    def free(self) -> None:
        """Gives everything back; afterwards nothing but this may be called. None may be under way. Local."""
        if self._plan is not None:
            library().use("plan_free", ctypes.byref(self._plan))
            _under_way.discard(self)
            self._plan = None
            self._kept = ((), {})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Waits for an execution under way first: its memory must not go before."""
        if self._plan is not None:
            try:
                self.wait()
            finally:
                self.free()

    def _handle(self) -> ctypes.c_void_p:
        if self._plan is None:
            raise WherryError("the plan has been freed; make another")
        return self._plan
