"""The basket: what a visitor has picked, kept in the session whether or not they are signed in."""

from __future__ import annotations

from shop import catalogue
from shop.sessions import Session


def add(session: Session, slug: str) -> bool:
    """Put one more of an item into the basket; False if there is no such item."""
    if catalogue.find(slug) is None:
        return False
    counts = session.setdefault("basket", {})
    counts[slug] = counts.get(slug, 0) + 1
    return True


def lines(session: Session) -> list[tuple[catalogue.Item, int]]:
    """The items in the basket with their counts, in the order of the catalogue."""
    counts = session.get("basket", {})
    return [(item, counts[item.slug]) for item in catalogue.ITEMS if item.slug in counts]


def total(session: Session) -> int:
    """What the basket costs, in cents."""
    return sum(item.price * count for item, count in lines(session))
