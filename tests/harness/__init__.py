"""The example whose tool has a side effect, importable as the program that it is."""

import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "tickets"
sys.path.insert(0, str(EXAMPLE))
