"""Why does this test fail? From a repository with a red test to a contract that says when a cause is confirmed."""
