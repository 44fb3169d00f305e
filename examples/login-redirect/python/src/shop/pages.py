"""The pages people see. A page takes the request, the session and the shop, and gives a response."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import quote

from shop import basket, catalogue
from shop.sessions import Session
from shop.web import Request, Response, page, redirect

if TYPE_CHECKING:
    from shop.app import Shop

Page = Callable[[Request, Session, "Shop"], Response]


def members_only(show: Page) -> Page:
    """Show a page to signed-in users; send everybody else to sign in first."""

    @wraps(show)
    def guarded(request: Request, session: Session, shop: Shop) -> Response:
        if session.user is None:
            return redirect(f"/auth/login?page={quote(request.target, safe='')}")
        return show(request, session, shop)

    return guarded


def home(request: Request, session: Session, shop: Shop) -> Response:
    greeting = f"Welcome back, {escape(session.user)}." if session.user else "Welcome."
    return page("Shop", greeting, *(f"{item.title}: {item.price_text}" for item in catalogue.ITEMS))


def show_basket(request: Request, session: Session, shop: Shop) -> Response:
    rows = [f"{count} x {item.title}" for item, count in basket.lines(session)]
    return page("Basket", *rows, f"Total: {basket.total(session) / 100:.2f} EUR")


def add_to_basket(request: Request, session: Session, shop: Shop) -> Response:
    if not basket.add(session, request.form.get("item", "")):
        return page("No such item", status=404)
    return redirect("/basket")


@members_only
def profile(request: Request, session: Session, shop: Shop) -> Response:
    user = shop.users.get(session["user"])
    return page("Profile", f"Name: {escape(user.name)}", f"E-mail: {escape(user.email)}")


@members_only
def settings(request: Request, session: Session, shop: Shop) -> Response:
    user = shop.users.get(session["user"])
    return page("Settings", f"Newsletter: {'on' if user.newsletter else 'off'}")


@members_only
def change_settings(request: Request, session: Session, shop: Shop) -> Response:
    shop.users.get(session["user"]).newsletter = request.form.get("newsletter") == "on"
    return redirect("/settings")
