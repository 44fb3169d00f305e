"""Programs on top of the library; no rules of their own."""
