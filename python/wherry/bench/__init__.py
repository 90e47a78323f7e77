"""Benchmarks: one module per question, cases and results as data."""
