"""Files that run inside the sandbox, in the project's own interpreter. Nothing here is imported by rootproof itself.

They must run on Python 3.8 and later with nothing installed but the test runner, so they import the standard library,
the runner and each other only, and each other by plain names: their folder is on the import path while they start.
"""
