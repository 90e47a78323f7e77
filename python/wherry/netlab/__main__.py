"""`python -m wherry.netlab`, which is tools/netlab."""

import sys

from wherry.netlab.cli import main

if __name__ == "__main__":
    sys.exit(main())
