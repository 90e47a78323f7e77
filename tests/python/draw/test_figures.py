"""The frame of matplotlib's pictures."""

from __future__ import annotations

import re

import pytest
from matplotlib.figure import Figure

from wherry.draw import figures
from wherry.simulate.picture import styles

LIGHT, DARK = "#ffffff", "#0d1117"  # pages


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("page", [LIGHT, DARK])
def test_colours_are_legible_on_every_page(page: str) -> None:
    """3 is what WCAG 2.2 asks of graphics (1.4.11); of text we ask for more."""
    assert contrast(figures.TEXT, page) >= 4
    for colour in (figures.LINES, *figures.COLOURS):
        assert contrast(colour, page) >= 3, colour


def test_digits_that_are_not_written_change_nothing() -> None:
    def drawn(width: float) -> str:
        def paint(figure: Figure) -> None:
            figure.set_layout_engine("none")
            for left in (0.1, 0.6):
                figure.add_axes((left, 0.1, width, 0.8)).plot([1, 2], [2, 1])

        return figures.svg(4, 3, paint)

    picture = drawn(0.3)
    assert picture == drawn(0.3 + 1e-12)
    names = re.findall(r'<clipPath id="([^"]+)">', picture)
    assert len(set(names)) == 2
    assert set(re.findall(r"clip-path=.url\(#([^)]+)\)", picture)) == set(names)


def test_no_two_lines_of_a_simulation_look_alike() -> None:
    natives = ["native", "native:mpich", "native:bruck", "native:ring", *(f"native:{i}" for i in range(10))]
    variants = [*natives, "native_like", *(f"strategy{i}" for i in range(30))]
    found = styles(variants)
    assert list(found) == variants
    assert len({tuple(sorted(look.items())) for look in found.values()}) == len(variants)
    assert {name for name, look in found.items() if look["color"] == figures.LINES} == set(natives)
    assert len({found[name]["marker"] for name in natives[:4]}) == 4
