"""What serialization costs a particle simulation: ESPResSo's issue 4415 again, its pull request 5404, and Wherry."""

from __future__ import annotations

from wherry.study.overhead import fluid, sizes
from wherry.study.parts import Study

STUDY = Study(
    "overhead",
    "what a Lennard-Jones fluid pays for metadata, padding and fields that nobody needs",
    (sizes.PART, *fluid.PARTS),
)
