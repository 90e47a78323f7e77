"""`wherry report`: one self-contained HTML page from an Analysis. Each picture has its numbers in a table below it."""

from wherry.report.document import SECTIONS, page
from wherry.report.folder import from_directory, load, write

__all__ = ["SECTIONS", "from_directory", "load", "page", "write"]
