"""What the records of a run say, as plain data: read -> compute (here) -> print or plot.

Times are seconds, sizes bytes, shares fractions. Everything is a dataclass of numbers and text, so that `asdict`
of the result is what summary.json holds.
"""

from wherry.analysis.merge import analyse
from wherry.analysis.rows import (
    Analysis,
    CommRow,
    DecisionRow,
    FallbackRow,
    FunctionRow,
    GainRow,
    Kind,
    MachineRow,
    PathRow,
    PeerRow,
    RankRow,
    SiteRow,
    SizeRow,
    Totals,
    TypeRow,
    UseRow,
    WaitRow,
    from_data,
)
from wherry.analysis.window_rows import NotCachedRow, TrackRow, WindowRow

__all__ = [
    "Analysis",
    "CommRow",
    "DecisionRow",
    "FallbackRow",
    "FunctionRow",
    "GainRow",
    "Kind",
    "MachineRow",
    "NotCachedRow",
    "PathRow",
    "PeerRow",
    "RankRow",
    "SiteRow",
    "SizeRow",
    "Totals",
    "TrackRow",
    "TypeRow",
    "UseRow",
    "WaitRow",
    "WindowRow",
    "analyse",
    "from_data",
]
