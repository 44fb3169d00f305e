"""The habits of the house, as tests: rules that are not tests rot."""
