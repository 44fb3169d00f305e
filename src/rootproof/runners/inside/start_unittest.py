"""Starts unittest as ``python -m unittest`` would, with the results going to the private channel."""

from __future__ import annotations

import os
import sys
import warnings


def main() -> int:
    from rootproof_channel import open_channel
    from rootproof_unittest_driver import Driver
    from rootproof_watch import Watch

    channel, settings = open_channel()
    root = os.path.normpath(os.path.join(os.getcwd(), settings["root"]))
    sys.path[0] = os.getcwd()
    sys.argv[1:] = []
    if not sys.warnoptions:
        warnings.simplefilter("default")
    watch = Watch(root, settings["hidden"])
    watch.start()
    code = Driver(channel, settings, watch, root).run()
    channel.write("end", exit=code)
    return code


if __name__ == "__main__":
    sys.exit(main())
