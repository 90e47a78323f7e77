"""`wherry report`: one self-contained HTML page from an Analysis. Each picture has its numbers in a table below it."""

from wherry.report.folder import from_directory, load, write
from wherry.report.html_page import SECTIONS, page

__all__ = ["SECTIONS", "from_directory", "load", "page", "write"]
