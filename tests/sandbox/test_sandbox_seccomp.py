"""The system call filter, run here in a small model of the kernel's machine, for both architectures."""

from __future__ import annotations

import errno
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rootproof.sandbox.seccomp import program

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CALLS = {
    "x86_64": {
        "socket": 41,
        "socketpair": 53,
        "clone": 56,
        "ioctl": 16,
        "ptrace": 101,
        "keyctl": 250,
        "mount": 165,
        "read": 0,
    },
    "aarch64": {
        "socket": 198,
        "socketpair": 199,
        "clone": 220,
        "ioctl": 29,
        "ptrace": 117,
        "keyctl": 219,
        "mount": 40,
        "read": 63,
    },
}
ALLOW, KILL = 0x7FFF0000, 0x80000000


def answer(machine: str, number: int, *words: int, architecture: int | None = None) -> int:
    """What the filter says to one call."""
    code = program(machine)
    assert code is not None
    lines = [struct.unpack_from("HBBI", code, at) for at in range(0, len(code), 8)]
    arguments = [*words, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("IIQ6Q", number, architecture or ARCHITECTURES[machine], 0, *arguments)
    at, register = 0, 0
    tests = {0x15: lambda a, k: a == k, 0x35: lambda a, k: a >= k, 0x45: lambda a, k: bool(a & k)}
    while True:
        kind, when_true, when_false, value = lines[at]
        if kind == 0x06:
            return value
        if kind == 0x20:
            register = struct.unpack_from("I", data, value)[0]
        else:
            at += when_true if tests[kind](register, value) else when_false
        at += 1


def refused(number: int) -> int:
    return 0x00050000 | number


@pytest.mark.parametrize("machine", sorted(ARCHITECTURES))
class TestFilter:
    def test_foreign_instruction_sets_kill(self, machine):
        assert answer(machine, 0, architecture=0x40000003) == KILL

    @pytest.mark.parametrize("name", ["ptrace", "keyctl", "mount"])
    def test_dangerous_calls_fail(self, machine, name):
        assert answer(machine, CALLS[machine][name]) == refused(errno.EPERM)

    @pytest.mark.parametrize("number", [425, 426, 427, 435, 447])
    def test_new_interfaces_are_absent(self, machine, number):
        assert answer(machine, number) == refused(errno.ENOSYS)

    @pytest.mark.parametrize("name", ["socket", "socketpair"])
    def test_only_local_and_internet_sockets(self, machine, name):
        allowed = [family for family in range(64) if answer(machine, CALLS[machine][name], family) == ALLOW]
        assert allowed == [1, 2, 10, 16]
        assert answer(machine, CALLS[machine][name], 40) == refused(errno.EAFNOSUPPORT)

    def test_processes_and_threads_but_no_namespaces(self, machine):
        clone = CALLS[machine]["clone"]
        assert answer(machine, clone, 17) == ALLOW  # SIGCHLD alone: fork
        assert answer(machine, clone, 0x3D0F00) == ALLOW  # what a thread asks for
        for bit in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
            assert answer(machine, clone, bit | 17) == refused(errno.EPERM)

    def test_typing_into_a_terminal_fails_other_requests_work(self, machine):
        ioctl = CALLS[machine]["ioctl"]
        assert answer(machine, ioctl, 0, 0x5412) == refused(errno.EPERM)
        assert answer(machine, ioctl, 0, 0x541C) == refused(errno.EPERM)
        assert answer(machine, ioctl, 0, 0x5413) == ALLOW  # the window's size

    def test_upper_halves_of_arguments_do_not_hide_a_flag(self, machine):
        assert answer(machine, CALLS[machine]["clone"], 1 << 32 | 0x10000000) == refused(errno.EPERM)


@given(
    st.sampled_from(sorted(ARCHITECTURES)), st.integers(0, 2**32 - 1), st.lists(st.integers(0, 2**64 - 1), max_size=6)
)
def test_every_call_gets_an_answer(machine, number, words):
    assert answer(machine, number, *words) in {
        ALLOW,
        *(refused(e) for e in (errno.EPERM, errno.ENOSYS, errno.EAFNOSUPPORT)),
    }


@pytest.mark.parametrize(("machine", "number"), [("x86_64", 29), ("aarch64", 194)])
def test_shared_segments_only_where_their_total_is_limited(machine, number):
    assert answer(machine, number) == refused(errno.ENOSYS)
    assert program(machine, segments=True) != program(machine)


def test_unknown_machine_has_no_filter():
    assert program("riscv64") is None
