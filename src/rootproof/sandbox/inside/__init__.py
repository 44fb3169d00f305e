"""Small programs that stand between the sandbox and the command: standard library only, quick to start.

They run in a process of their own, started with ``-I -S``, and import nothing else of this package.
"""
