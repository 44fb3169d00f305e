"""What people read: reports generated from facts."""
