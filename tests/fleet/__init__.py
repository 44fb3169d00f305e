"""Fleets of workers. The example with a side effect is importable, as for the harness."""

import harness as harness
