"""Starts pytest as ``python -m pytest`` would, with the reporting plugin in place and nothing of ours left to find."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import traceback


def main() -> int:
    from rootproof_channel import bounded, open_channel
    from rootproof_watch import Watch

    channel, settings = open_channel()
    root = os.path.normpath(os.path.join(os.getcwd(), settings["root"]))
    sys.path.insert(1, os.getcwd())
    try:
        import pytest
        from rootproof_pytest_plugin import Reporter
    except ImportError as error:
        channel.write("problem", what="missing", module=str(error.name), text=bounded(traceback.format_exc()))
        traceback.print_exc()
        return 4
    del sys.path[0]
    watch = Watch(root, settings["hidden"])
    watch.start()
    cache = tempfile.mkdtemp(prefix="rootproof-cache-")
    arguments = ["--assert=rewrite", "-o", "cache_dir=" + cache, *sys.argv[1:]]
    sys.argv[0] = os.path.join(os.path.dirname(os.path.abspath(pytest.__file__)), "__main__.py")
    sys.argv[1:] = arguments
    try:
        code = int(pytest.main(arguments, plugins=[Reporter(channel, settings, watch, root)]))
    except Exception:
        channel.write("problem", what="start", text=bounded(traceback.format_exc()))
        raise
    finally:
        shutil.rmtree(cache, ignore_errors=True)
    channel.write("end", exit=code)
    return code


if __name__ == "__main__":
    sys.exit(main())
