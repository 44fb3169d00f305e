"""A small shop front: pages, sessions and sign-in."""
