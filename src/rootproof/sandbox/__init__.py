"""Containing the code under test: one interface, the strongest member that works here."""
