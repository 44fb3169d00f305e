"""The part of the engine that runs inside the target project's own interpreter.

Only the standard library and the project's pytest are there; Python 3.8 and later. These files are started as a
program (``start.py``), never imported by the rest of the package, and import nothing of it. They make observations;
what they report is a claim of the code under test and confirms nothing.
"""
