"""JUnit XML in the dialects people have, and the reports no test runner writes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rootproof.runners.junit_xml import MAX_DEPTH, Case, Refused, read

SUREFIRE = b"""<?xml version="1.0" encoding="UTF-8"?>
<testsuite xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" version="3.0.2" name="org.shop.auth.LoginTest" time="0.121" tests="5" errors="1" skipped="1" failures="1">
  <properties><property name="java.version" value="17"/></properties>
  <testcase name="returnsToPage" classname="org.shop.auth.LoginTest" time="0.034">
    <failure message="expected: &lt;/settings&gt; but was: &lt;/&gt;" type="org.opentest4j.AssertionFailedError"><![CDATA[org.opentest4j.AssertionFailedError: expected: </settings> but was: </>
	at org.shop.auth.LoginTest.returnsToPage(LoginTest.java:41)]]></failure>
    <system-out><![CDATA[<failure/> PASSED]]></system-out>
  </testcase>
  <testcase name="opensSession" classname="org.shop.auth.LoginTest" time="1,002.5">
    <error message="no user" type="java.lang.NullPointerException">java.lang.NullPointerException: no user</error>
  </testcase>
  <testcase name="later" classname="org.shop.auth.LoginTest" time="0"><skipped message="not built"/></testcase>
  <testcase name="wobbles" classname="org.shop.auth.LoginTest" time="0.01">
    <flakyFailure message="first try" type="java.lang.AssertionError"><stackTrace>at x</stackTrace></flakyFailure>
  </testcase>
  <testcase name="works" classname="org.shop.auth.LoginTest" time="0.004"/>
</testsuite>"""

GO = b"""<?xml version="1.0"?>
<testsuites tests="3" failures="1">
  <testsuite name="shop.example/web/auth" tests="3" failures="1" skipped="1" time="0.010">
    <testcase name="TestLogin" classname="shop.example/web/auth" time="0.000">
      <failure message="Failed"><![CDATA[    login_test.go:19: landed on "/", want "/settings"]]></failure>
    </testcase>
    <testcase name="TestLogin/no_page" classname="shop.example/web/auth" time="0.000"></testcase>
    <testcase name="TestSlow" classname="shop.example/web/auth" time="0.000"><skipped message="short mode"></skipped></testcase>
  </testsuite>
</testsuites>"""

PHPUNIT = b"""<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="Shop\\Tests\\LoginTest" file="/repo/tests/LoginTest.php" tests="2" assertions="2">
    <testcase name="testReturnsToPage" file="/repo/tests/LoginTest.php" line="14" class="Shop\\Tests\\LoginTest" classname="Shop.Tests.LoginTest" assertions="1" time="0.002">
      <failure type="PHPUnit\\Framework\\ExpectationFailedException">Shop\\Tests\\LoginTest::testReturnsToPage
Failed asserting that two strings are equal.

/repo/tests/LoginTest.php:18</failure>
    </testcase>
    <testsuite name="Shop\\Tests\\LoginTest::testUnsafe" tests="1">
      <testcase name="testUnsafe with data set &quot;two slashes&quot;" line="24" classname="Shop.Tests.LoginTest" time="0.001"/>
    </testsuite>
  </testsuite>
</testsuites>"""

RSPEC = b"""<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="rspec" tests="2" skipped="1" failures="1" errors="0" time="0.01">
  <testcase classname="spec.login_spec" name="Login returns to the page" file="./spec/login_spec.rb" time="0.003"><failure message="
expected: &quot;/settings&quot;
     got: &quot;/&quot;" type="RSpec::Expectations::ExpectationNotMetError">./spec/login_spec.rb:9</failure></testcase>
  <testcase classname="spec.login_spec" name="Login is pending" file="./spec/login_spec.rb" time="0.000"><skipped/></testcase>
</testsuite>"""


def statuses(content: bytes) -> dict[str, str]:
    return {case.name: case.status for case in read(content)}


def by_name(content: bytes, name: str) -> Case:
    return next(case for case in read(content) if case.name == name)


def test_surefire() -> None:
    assert statuses(SUREFIRE) == {
        "returnsToPage": "failed",
        "opensSession": "failed",
        "later": "skipped",
        "wobbles": "failed",
        "works": "passed",
    }
    case = by_name(SUREFIRE, "returnsToPage")
    assert case.message == "expected: </settings> but was: </>"
    assert case.exception == "org.opentest4j.AssertionFailedError"
    assert "LoginTest.java:41" in case.detail
    assert by_name(SUREFIRE, "opensSession").seconds == 1002.5
    assert by_name(SUREFIRE, "later").reason == "not built"


def test_go() -> None:
    assert statuses(GO) == {"TestLogin": "failed", "TestLogin/no_page": "passed", "TestSlow": "skipped"}
    assert 'want "/settings"' in by_name(GO, "TestLogin").detail


def test_phpunit() -> None:
    case = by_name(PHPUNIT, "testReturnsToPage")
    assert (case.status, case.file, case.line) == ("failed", "/repo/tests/LoginTest.php", 14)
    assert "two strings are equal" in case.message
    assert by_name(PHPUNIT, 'testUnsafe with data set "two slashes"').file == "/repo/tests/LoginTest.php"


def test_rspec() -> None:
    case = by_name(RSPEC, "Login returns to the page")
    assert (case.status, case.file) == ("failed", "./spec/login_spec.rb")
    assert 'expected: "/settings"' in case.message
    assert by_name(RSPEC, "Login is pending").status == "skipped"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "well-formed"),
        (b"<testsuite>", "well-formed"),
        (b"1 passed", "well-formed"),
        (b"<html/>", "outermost"),
        (b'<!DOCTYPE t [<!ENTITY a "x">]><testsuite/>', "document type"),
        (b'<!DOCTYPE t SYSTEM "file:///etc/passwd"><testsuite/>', "document type"),
        (b"<testsuite>" * (MAX_DEPTH + 1), "deeply"),
        (b"<testsuite><testcase><testcase/></testcase></testsuite>", "inside another"),
        (b'<?xml version="1.0" encoding="no-such"?><testsuite/>', "encoding"),
        (b"<testsuite>&undefined;</testsuite>", "well-formed"),
    ],
)
def test_what_is_refused(content: bytes, why: str) -> None:
    with pytest.raises(Refused, match=why):
        read(content)


def test_a_billion_laughs_cost_nothing() -> None:
    lines = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    with pytest.raises(Refused, match="document type"):
        read(f'<!DOCTYPE t [<!ENTITY a0 "ha">{lines}]><testsuite><testcase name="&a11;"/></testsuite>'.encode())


def test_control_characters_of_a_message_are_shown_not_sent() -> None:
    content = b'<testsuite><testcase name="a"><failure message="&#x9b;31m red"/></testcase></testsuite>'
    assert read(content)[0].message == "\\x9b31m red"


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    try:
        read(content)
    except Refused:
        pass


@given(
    st.lists(
        st.sampled_from(
            [
                "<testsuite>",
                "</testsuite>",
                "<testcase name='a'>",
                "</testcase>",
                "<failure/>",
                "<skipped/>",
                "text",
                "<x:y/>",
            ]
        ),
        max_size=14,
    )
)
def test_any_nesting_is_read_or_refused(parts: list[str]) -> None:
    try:
        read("".join(parts).encode())
    except Refused:
        pass
