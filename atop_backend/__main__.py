"""`python -m atop_backend` is `atop`."""

import sys

from atop_backend.cli import main

sys.exit(main())
