"""Attempts on the network: every kind of socket by which somebody outside could be reached."""

from __future__ import annotations

import ctypes
import socket

from ground import CONFIG, LIBC, attempt, last_error, say, tried, why


def call(family, kind, address):
    try:
        with socket.socket(family, kind) as caller:
            caller.settimeout(2)
            caller.connect(address)
            caller.sendall(b"CANARY-hello")
            return "connected"
    except OSError as fault:
        return why(fault)


@attempt
def net_tcp_loopback():
    say(found=call(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", CONFIG["tcp_port"])))


@attempt
def net_tcp6_loopback():
    say(found=call(socket.AF_INET6, socket.SOCK_STREAM, ("::1", CONFIG["tcp6_port"])))


@attempt
def net_udp_loopback():
    say(found=call(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", CONFIG["udp_port"])))


@attempt
def net_unix_abstract():
    say(found=call(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + CONFIG["abstract"]))


@attempt
def net_unix_path():
    say(found=[call(socket.AF_UNIX, socket.SOCK_STREAM, path) for path in CONFIG["unix_paths"]])


@attempt
def net_iface():
    """The machine's own address that is not loopback, as a name server or a neighbour would be reached."""
    say(found=call(socket.AF_INET, socket.SOCK_STREAM, (CONFIG["iface_ip"], CONFIG["tcp_port"])))


@attempt
def net_vsock_socket():
    found = tried(lambda: socket.socket(40, socket.SOCK_STREAM).close())
    say(escaped=found == "done", why=found)


@attempt
def net_io_uring():
    ring = LIBC.syscall(425, 4, ctypes.create_string_buffer(256))
    say(escaped=ring >= 0, why=last_error())


@attempt
def net_raw():
    kinds = {"raw": (socket.AF_INET, socket.SOCK_RAW, 1), "packet": (17, socket.SOCK_RAW, 0x0300), "alg": (38, 5, 0)}
    found = {name: tried(lambda kind=kind: socket.socket(*kind).close()) for name, kind in kinds.items()}
    say(escaped="done" in found.values(), **found)
