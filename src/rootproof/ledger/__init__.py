"""Where the events of a run are kept: append-only and hash-chained."""
