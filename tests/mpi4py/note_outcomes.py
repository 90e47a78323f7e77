"""Runs test modules of mpi4py on this rank and notes how each test ended, one line per test.

Arguments: the folder for the notes, the folder of the modules, the type codes of the arrays that are tried ("all"), and
the modules. A crash leaves what came before it.
"""

from __future__ import annotations

import sys
import unittest
from pathlib import Path
from typing import TextIO


class Notes(unittest.TestResult):
    """Writes "outcome test" as each test ends; subtests count as part of their test.

    Where a class or module does not begin, its own name stands for its tests.
    """

    def __init__(self, out: TextIO) -> None:
        super().__init__()
        self._out = out
        self._outcome = ""

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self._outcome = "passed"

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        self._note(self._outcome, test.id())

    def _note(self, outcome: str, name: str) -> None:
        self._out.write(f"{outcome} {name}\n")
        self._out.flush()

    def addError(self, test: unittest.TestCase, err: object) -> None:
        super().addError(test, err)  # type: ignore[arg-type]
        self._end("error", test)

    def addFailure(self, test: unittest.TestCase, err: object) -> None:
        super().addFailure(test, err)  # type: ignore[arg-type]
        self._end("failed", test)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: object) -> None:
        super().addSubTest(test, subtest, err)  # type: ignore[arg-type]
        if err is not None:
            self._outcome = "failed"

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self._end("skipped", test)

    def _end(self, outcome: str, test: unittest.TestCase) -> None:
        self._outcome = outcome
        if not isinstance(test, unittest.TestCase):  # "setUpClass (module.Class)"
            self._note(outcome, test.id().partition("(")[2].rstrip(")"))


def keep_types(codes: str) -> None:
    import arrayimpl

    for backend in arrayimpl.ArrayBackends:
        backend.TypeMap = {code: datatype for code, datatype in backend.TypeMap.items() if code in codes}


def main(notes: Path, modules: Path, codes: str, names: list[str]) -> None:
    # Modules of GPU arrays would be tried too where they are installed.
    sys.modules["cupy"] = sys.modules["numba"] = None  # type: ignore[assignment]
    sys.path.insert(0, str(modules))
    from mpi4py import MPI

    if codes != "all":
        keep_types(codes)

    rank = MPI.COMM_WORLD.Get_rank()
    suite = unittest.defaultTestLoader.loadTestsFromNames(names)
    with (notes / f"rank-{rank}").open("w") as out:
        result = Notes(out)
        suite.run(result)
    for test, trace in [*result.errors, *result.failures]:
        print(f"rank {rank}: {test}\n{trace}", file=sys.stderr)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4:])
