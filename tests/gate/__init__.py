"""The gate, from outside: what a run may end in, and what its ledger, its store and its command line do about it."""
