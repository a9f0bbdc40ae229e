"""`python -m ovsim.bridge`."""

from __future__ import annotations

import sys

from ovsim.bridge.commands import main

sys.exit(main())
