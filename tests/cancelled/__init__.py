"""Ctrl-C and a request to terminate, whatever a command is at."""
