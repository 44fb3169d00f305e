"""Signing in and out. The password is asked for by the identity provider; the shop only sees a code."""
