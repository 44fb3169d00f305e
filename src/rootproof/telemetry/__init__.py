"""What of a run is told to the outside while it goes on: spans, metrics and log lines. Off unless configured.

Told is that something happened, how long it took and how it ended. Never what was said, asked, found or read: no
message, input, observation, fact, path or key. Telemetry can change nothing, and its failure is no failure of a run.
"""
