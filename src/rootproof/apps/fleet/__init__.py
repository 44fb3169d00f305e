"""Many investigations: a batch of jobs, carried out by worker processes on one machine or many."""
