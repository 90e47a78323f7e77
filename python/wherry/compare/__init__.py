"""`wherry compare`: the whole program with and without Wherry, interleaved; and which lever made the difference.

ratios.py computes, levers.py is the table of what can be left out, launching.py runs a program once, rounds.py runs
all variants in random order, result.py holds what was measured, text.py and command.py show it.
"""

from wherry.compare.rounds import Comparison, Experiment, compare

__all__ = ["Comparison", "Experiment", "compare"]
