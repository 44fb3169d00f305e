"""Who gets in, and who doesn't."""

from __future__ import annotations


def test_member_page_asks_guests_to_sign_in(browser):
    browser.get("/profile")
    assert browser.visited == ["/profile", "/auth/login", "/identity/authorize"]


def test_profile_shows_the_user_after_sign_in(browser):
    browser.get("/profile")
    browser.sign_in()
    browser.get("/profile")
    assert browser.status == 200
    assert "mina@shop.example" in browser.text


def test_wrong_password_lets_nobody_in(browser):
    browser.get("/settings")
    browser.sign_in(password="black-tea")
    assert browser.status == 401
    browser.get("/settings")
    assert browser.path == "/identity/authorize"


def test_second_try_with_the_right_password_works(browser):
    browser.get("/settings")
    browser.sign_in(password="black-tea")
    browser.sign_in()
    browser.get("/settings")
    assert "Newsletter: off" in browser.text


def test_callback_without_a_sign_in_is_refused(browser):
    browser.get("/auth/callback?code=abc&state=abc")
    assert browser.status == 400


def test_invented_code_is_refused(browser):
    browser.get("/auth/login")
    state = browser.url.partition("state=")[2]
    browser.get(f"/auth/callback?code=invented&state={state}")
    assert browser.status == 403
    browser.get("/profile")
    assert browser.path == "/identity/authorize"


def test_state_of_another_visitor_is_refused(browser):
    browser.get("/auth/login")
    browser.post("/identity/authorize?state=theirs", name="mina", password="green-tea-42")
    assert browser.status == 400


def test_sign_out_closes_the_session(browser):
    browser.get("/auth/login")
    browser.sign_in()
    browser.post("/auth/logout")
    assert browser.path == "/"
    browser.get("/profile")
    assert browser.path == "/identity/authorize"
