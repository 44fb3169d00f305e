"""The pages themselves."""

from __future__ import annotations

from shop import catalogue


def test_home_lists_what_is_sold(browser):
    browser.get("/")
    assert all(item.title in browser.text for item in catalogue.ITEMS)


def test_unknown_page_is_not_found(browser):
    browser.get("/nowhere")
    assert browser.status == 404


def test_basket_adds_up(browser):
    browser.post("/basket", item="cup")
    browser.post("/basket", item="cup")
    browser.post("/basket", item="sencha")
    assert browser.path == "/basket"
    assert "2 x Pair of cups" in browser.text
    assert "Total: 32.95 EUR" in browser.text


def test_unknown_item_is_not_added(browser):
    browser.post("/basket", item="samovar")
    assert browser.status == 404


def test_basket_survives_sign_in(browser):
    browser.post("/basket", item="teapot")
    browser.get("/auth/login")
    browser.sign_in()
    browser.get("/basket")
    assert "1 x Clay teapot" in browser.text


def test_newsletter_can_be_switched_on(browser):
    browser.get("/auth/login")
    browser.sign_in()
    browser.post("/settings", newsletter="on")
    assert browser.path == "/settings"
    assert "Newsletter: on" in browser.text


def test_sessions_are_kept_apart(shop, browser):
    browser.post("/basket", item="teapot")
    stranger = type(browser)(shop)
    stranger.get("/basket")
    assert "Total: 0.00 EUR" in stranger.text
    assert len(shop.sessions) == 2


def test_unknown_session_id_is_not_adopted(shop):
    session = shop.sessions.open("chosen-by-somebody-else")
    assert session.id != "chosen-by-somebody-else"
