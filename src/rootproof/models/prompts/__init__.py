"""The prompt files: plain text, one a part, read by ``models.prompt``."""
