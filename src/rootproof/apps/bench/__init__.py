"""``rootproof bench``: runs a model over a manifest of real bugs with known causes, and scores what it says."""
