"""``python -m pyflow``: the command, for environments whose scripts are not on PATH."""

import sys

from pyflow.cli import main

sys.exit(main())
