"""What can be asked: the tools an investigation may use."""
