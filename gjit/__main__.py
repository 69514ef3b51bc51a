"""`python -m gjit`: see `gjit.cli`."""

from __future__ import annotations

import sys

from gjit.cli import main

if __name__ == "__main__":
    sys.exit(main())
