"""Who proposes the next step."""
