"""`python -m wherry` is the command line."""

from wherry.cli import main

main()
