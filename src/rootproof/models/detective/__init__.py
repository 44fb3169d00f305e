"""The detective: a deterministic proposer, no language model. It sees the same view and passes the same gate."""
