"""What the shop sells. Prices are in cents."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    """One thing for sale."""

    slug: str
    title: str
    price: int

    @property
    def price_text(self) -> str:
        return f"{self.price // 100}.{self.price % 100:02d} EUR"


ITEMS = (
    Item("teapot", "Clay teapot", 3450),
    Item("cup", "Pair of cups", 1200),
    Item("sencha", "Sencha, 100 g", 895),
)


def find(slug: str) -> Item | None:
    """The item with this slug, or None."""
    return next((item for item in ITEMS if item.slug == slug), None)
