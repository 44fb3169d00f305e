"""Entry: ``python start.py REQUEST.json``. Loads this folder under a private name and serves one request.

The request is a JSON object made by the host side; results are JSON lines on the private channel.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys

PACKAGE = "_rootproof_target"


def load(here: str) -> None:
    """Make this folder importable as one private package, so that no name of a project is shadowed."""
    spec = importlib.util.spec_from_file_location(
        PACKAGE, os.path.join(here, "__init__.py"), submodule_search_locations=[here]
    )
    if spec is None or spec.loader is None:
        raise SystemExit("the engine's own files are not where they should be")
    module = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = module
    spec.loader.exec_module(module)


def main() -> int:
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    sys.dont_write_bytecode = True
    load(os.path.dirname(os.path.abspath(__file__)))
    # The current folder comes first, as with ``python -m pytest``; ours is not on the path at all.
    sys.path[0] = os.getcwd()
    serve = importlib.import_module(PACKAGE + ".serve")
    return int(serve.serve(request, sys.argv[1]))


if __name__ == "__main__":
    raise SystemExit(main())
