"""Runs a program that writes JUnit XML reports, and hands the reports out over the private channel.

Reports that lie there already are removed first: only what this run wrote counts. A report is read through no link,
only as a regular file, and only up to a size.
"""

from __future__ import annotations

import base64
import glob
import os
import stat
import subprocess
import sys

REPORT_LIMIT = 4 * 1024 * 1024
PART = 96 * 1024
MAX_REPORTS = 200


def main() -> int:
    from rootproof_channel import open_channel

    channel, settings = open_channel()
    places = [os.path.join(os.getcwd(), pattern) for pattern in settings["reports"]]
    for path in found(places):
        try:
            os.unlink(path)
        except OSError as fault:
            channel.write("problem", what="start", text=f"an old report cannot be removed: {fault}")
            return 4
    channel.write("start", versions={}, flags=[])
    try:
        code = subprocess.call(sys.argv[1:])
    except OSError as fault:
        channel.write("problem", what="start", text=f"the program cannot be started: {fault}")
        return 4
    for path in found(places)[:MAX_REPORTS]:
        hand_out(channel, path)
    channel.write("finish", exit=code)
    channel.write("end", exit=code)
    if code < 0:
        os.kill(os.getpid(), -code)
    return code


def found(places: list[str]) -> list[str]:
    return sorted({path for place in places for path in glob.glob(place, recursive=True)})


def hand_out(channel, path: str) -> None:
    name = os.path.relpath(path)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as fault:
        return channel.write("report", name=name, fault=f"cannot be opened: {fault.strerror}")
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return channel.write("report", name=name, fault="not a regular file")
        content = file.read(REPORT_LIMIT + 1)
    if len(content) > REPORT_LIMIT:
        return channel.write("report", name=name, fault=f"larger than {REPORT_LIMIT} bytes")
    for start in range(0, max(len(content), 1), PART):
        part = base64.b64encode(content[start : start + PART]).decode("ascii")
        channel.write("report", name=name, part=part, last=start + PART >= len(content))
    return None


if __name__ == "__main__":
    sys.exit(main())
