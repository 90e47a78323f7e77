"""Numbers as people read them."""

from __future__ import annotations

_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_TIME_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_COUNT_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k"))


def bytes_(value: float) -> str:
    """1536 -> '1.5 KiB'."""
    for unit in _BYTE_UNITS[:-1]:
        if abs(value) < 1024:
            return f"{_short(value)} {unit}"
        value /= 1024
    return f"{_short(value)} {_BYTE_UNITS[-1]}"


def seconds(value: float) -> str:
    """0.00123 -> '1.23 ms'."""
    if value == 0:
        return "0 s"
    for scale, unit in _TIME_UNITS:
        if abs(value) >= scale:
            return f"{_short(value / scale)} {unit}"
    return f"{value / 1e-9:.2g} ns"


def count(value: float) -> str:
    """12345 -> '12.3k'; exact below 10,000."""
    for scale, unit in _COUNT_UNITS:
        if abs(value) >= scale:
            divisor = 1e3 if unit == "k" else scale
            return f"{_short(value / divisor)}{unit}"
    return f"{value:.0f}" if float(value).is_integer() else _short(value)


def percent(share: float) -> str:
    return f"{100 * share:.1f}%" if abs(share) < 0.1 else f"{100 * share:.0f}%"


def bucket(index: int) -> str:
    """The sizes of a size class, src/profile/record.hpp: bucket_of."""
    if index <= 3:
        return ("0 B", "1 B", "2 B", "3-4 B")[index]
    return f"<= {bytes_(1 << (index - 1))}"


def plural(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def ranges(numbers: list[int], most: int = 8) -> str:
    """[0, 1, 2, 5] -> '0-2, 5'."""
    runs: list[list[int]] = []
    for n in sorted(numbers):
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    words = [f"{a}" if a == b else f"{a}-{b}" for a, b in runs]
    return ", ".join(words[:most]) + (", ..." if len(words) > most else "")


def _short(value: float) -> str:
    """Three significant digits without a trailing '.0'."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
