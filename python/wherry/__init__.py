"""Wherry: see where an MPI program's communication goes, and get its all-to-alls faster."""

__version__ = "0.1.0"
