"""Test runners: how a test is started and how its outcome is read."""
