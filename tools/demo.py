"""Real programs with and without Wherry: `make demo`. The work is in python/wherry/demo."""

from wherry.demo.main import main

if __name__ == "__main__":
    main(prog_name="tools/demo.py")
