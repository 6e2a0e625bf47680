"""`python -m banyan.bench` is `banyan bench`."""

import sys

from banyan.jobs.cli import main

if __name__ == "__main__":
    sys.exit(main(["bench", *sys.argv[1:]]))
