"""`python -m markone` is the command `markone`."""

import sys

from markone.cli import main

sys.exit(main())
