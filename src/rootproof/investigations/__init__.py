"""Kinds of question: contract, tools and pure checks of each."""
