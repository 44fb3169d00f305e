"""The rates of a small shop. Members pay ten per cent less; or so they were told."""

MEMBER_DISCOUNT = 0.01


def price(amount: float, member: bool) -> float:
    return round(amount * (1 - MEMBER_DISCOUNT), 2) if member else amount
