"""What nbody writes for other programs and for people: snapshots in GADGET's format, and films."""

from __future__ import annotations

import math
import struct
from pathlib import Path

from conftest import Launcher
from launching import on_one
from nbody_runs import HEADER, bodies_of, output, run
from PIL import Image


@on_one
def test_a_snapshot_in_gadgets_format(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    """What struct reads by the format's description is what the text has; and it can be begun from."""
    text, binary, again = tmp_path / "stars.csv", tmp_path / "stars.gadget", tmp_path / "again.csv"
    start = ["--scheme", "replicated", "--with", "mpi", "--bodies", "30", "--steps", "2", "--output"]
    output(run(mpi, build, 2, [*start, text]))
    output(run(mpi, build, 2, [*start, binary]))
    rows = bodies_of(text)
    data = binary.read_bytes()
    records = []
    while data:
        (size,) = struct.unpack_from("<I", data)
        assert struct.unpack_from("<I", data, 4 + size) == (size,)
        records.append(data[4 : 4 + size])
        data = data[8 + size :]
    header, places, velocities, identifiers, masses = records
    assert struct.unpack_from("<6i", header) == (0, 30, 0, 0, 0, 0)
    assert struct.unpack_from("<d", header, 72) == (0.002,)
    assert list(struct.unpack("<30d", masses)) == [row[0] for row in rows]
    assert list(struct.unpack("<90d", places)) == [value for row in rows for value in row[1:4]]
    assert list(struct.unpack("<90d", velocities)) == [value for row in rows for value in row[4:]]
    assert list(struct.unpack("<30I", identifiers)) == list(range(1, 31))
    output(run(mpi, build, 2, ["--input", binary, "--steps", "0", "--output", again]))
    assert bodies_of(again) == rows


@on_one
def test_a_run_is_filmed(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    """Three bodies that nothing pulls, each where it should be in each frame."""
    stars, film = tmp_path / "stars.csv", tmp_path / "film.gif"
    # In view is a square of side 5 around the centre, 80 pixels to a unit.
    stars.write_text(HEADER + "0,-2,0,0,0,0,0\n0,2,0,0,0,0,0\n0,0,0,0,1,-0.5,0\n")
    words = ["--input", stars, "--dt", "0.5", "--steps", "3", "--every", "2", "--film", film]
    output(run(mpi, build, 2, words))
    assert sorted(tmp_path.iterdir()) == [film, stars]
    frames = []
    with Image.open(film) as picture:
        assert (picture.format, picture.size) == ("GIF", (400, 400))
        for number in range(picture.n_frames):
            picture.seek(number)
            frames.append(picture.convert("L"))
    assert len(frames) == 3  # the start, after two steps, the end
    for frame, (x, y) in zip(frames, [(0.0, 0.0), (1.0, -0.5), (1.5, -0.75)], strict=True):
        lit = {(i % 400, i // 400) for i, grey in enumerate(frame.tobytes()) if grey > 0}
        expected = set()
        for px, py in [(-2.0, 0.0), (2.0, 0.0), (x, y)]:
            column, row = math.floor((px / 2.5 + 1) / 2 * 400), 399 - math.floor((py / 2.5 + 1) / 2 * 400)
            expected |= {(column + i, row + j) for i in (0, 1) for j in (0, 1)}
        assert lit == expected


@on_one
def test_a_film_of_many_bodies_is_whole(mpi: Launcher, build: Path, tmp_path: Path) -> None:
    """So many shades that the code's table overflows: every pixel is decoded, and the brightest are in the middle."""
    film = tmp_path / "film.gif"
    output(
        run(mpi, build, 2, ["--bodies", "20000", "--kernel", "single", "--steps", "1", "--every", "1", "--film", film])
    )
    with Image.open(film) as picture:
        picture.seek(1)
        grey = list(picture.convert("L").tobytes())
    assert len(grey) == 400 * 400
    assert sum(shade > 0 for shade in grey) > 20000
    middle = [grey[row * 400 + column] for row in range(190, 210) for column in range(190, 210)]
    assert sum(middle) / len(middle) > 3 * sum(grey) / len(grey)
