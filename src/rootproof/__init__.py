"""rootproof finds why something is wrong and can show it."""
