"""Which mechanism is taken, and what is said where none holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from sandbox_ground import working

from rootproof.errors import ContainmentUnavailable
from rootproof.sandbox import choose
from rootproof.sandbox.bare import Bare
from rootproof.sandbox.interface import Command, Probe
from rootproof.sandbox.mend import mend


@pytest.fixture
def nothing_holds(monkeypatch):
    """As on a machine without user namespaces: no mechanism's self-test holds."""
    monkeypatch.setattr(
        choose, "kept_probe", lambda sandbox: Probe(sandbox.name, "contained", False, "unshare: refused")
    )


def test_strongest_reaches_the_level_that_is_asked_for(namespaces):
    assert choose.strongest("contained").level == "contained"


def test_refusal_names_reason_and_mend(nothing_holds):
    with pytest.raises(ContainmentUnavailable, match="unshare: refused") as refused:
        choose.strongest("contained")
    assert refused.value.exit_status == 9
    assert "--containment none --trust-this-repository" in refused.value.remedy


def test_no_containment_only_when_it_is_asked_for(nothing_holds):
    assert isinstance(choose.strongest("none"), Bare)
    with pytest.raises(ContainmentUnavailable):
        choose.strongest("degraded")


def test_repository_at_home_is_refused_before_anything_is_tried(monkeypatch, tmp_path, nothing_holds):
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ContainmentUnavailable, match="at or above the home folder"):
        choose.strongest("contained", tmp_path)


def test_result_of_the_self_test_is_kept_for_this_boot(namespaces, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "held earlier" not in choose.kept_probe(namespaces).detail
    assert "held earlier" in choose.kept_probe(namespaces).detail
    next(tmp_path.rglob("selftest/*")).chmod(0o666)
    assert "held earlier" not in choose.kept_probe(namespaces).detail


@pytest.mark.writes_its_tree
def test_mechanism_that_lets_something_through_is_found_out(tree):
    class Leaky(Bare):
        name = "leaky"

    from rootproof.sandbox.selftest import probe

    found = probe(Leaky())
    assert not found.works
    assert "not contained" in found.detail


def test_doctor_says_what_is_contained_and_what_not(namespaces):
    lines = choose.describe(choose.doctor())
    assert lines[0] == "level of this machine: contained"
    assert any("contains  network" in line for line in lines)
    assert any("does not contain" in line for line in lines)


@pytest.mark.parametrize(
    ("setting", "value", "ci", "expected"),
    [
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "", "/etc/apparmor.d/bwrap"),
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "true", "- run: sudo sysctl"),
        ("kernel/unprivileged_userns_clone", "0", "", "sysctl -w kernel.unprivileged_userns_clone=1"),
        ("user/max_user_namespaces", "0", "", "sysctl -w user.max_user_namespaces"),
    ],
)
def test_mend_fits_the_obstacle(monkeypatch, setting, value, ci, expected):
    monkeypatch.setattr("rootproof.sandbox.mend._setting", lambda name: value if name == setting else "")
    monkeypatch.setenv("CI", ci)
    assert expected in mend([])


def test_root_is_served_by_the_launcher_and_users_by_bwrap(tree):
    working("namespaces")
    working("bubblewrap")
    layered = choose.Layered()
    import os

    expected = "namespaces" if os.geteuid() == 0 else "bubblewrap"
    assert layered.run(Command(("/bin/true",), tree, tree)).mechanism == expected
    assert layered.run(Command(("/bin/true",), tree, tree, writable=True)).mechanism == "namespaces"
    assert Path(tree).exists()
