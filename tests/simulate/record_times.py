"""Writes recorded_times.json: python tests/simulate/record_times.py

Run it when a change is meant to change simulated times, and say in the commit why they changed.
"""

from __future__ import annotations

from test_times import PLATFORMS, RECORD, times

from wherry.files import write_json

write_json(RECORD, {platform: times(platform) for platform in PLATFORMS})
