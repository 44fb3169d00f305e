"""A missing dependency is an answer of its own: what to install, not a diagnosis. Pure text work, no look at disks."""

from __future__ import annotations

import re
from collections.abc import Callable

DISTRIBUTIONS = {
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "Crypto": "pycryptodome",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "fitz": "PyMuPDF",
    "git": "GitPython",
    "google.protobuf": "protobuf",
    "jose": "python-jose",
    "jwt": "PyJWT",
    "magic": "python-magic",
    "MySQLdb": "mysqlclient",
    "OpenSSL": "pyOpenSSL",
    "PIL": "Pillow",
    "psycopg2": "psycopg2-binary",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "slugify": "python-slugify",
    "usb": "pyusb",
    "yaml": "PyYAML",
    "zmq": "pyzmq",
}
"""Import name → distribution name, where the two differ and people trip over it."""

_PYTHON = re.compile(r"ModuleNotFoundError: No module named '([A-Za-z_][\w.]*)'")
_NODE = re.compile(
    r"(?:Cannot find (?:package|module)|Failed to (?:resolve import|load url)) ['\"]?((?:@[\w.-]+/)?[\w][\w.-]*)"
)


def for_python(text: str, is_own: Callable[[str], bool]) -> str:
    """What to install for the first missing module in the text; empty where none is missing.

    ``is_own`` says whether a top-level name is a package of the repository itself.
    """
    found = _PYTHON.search(text)
    if found is None:
        return ""
    module = found.group(1)
    top = module.split(".")[0]
    if is_own(top):
        return f"pip install -e . (the repository's own package {top} cannot be imported)"
    return f"pip install {DISTRIBUTIONS.get(module, DISTRIBUTIONS.get(top, top))}"


def for_node(text: str, has_modules: bool) -> str:
    """What to install for the first missing package in the text; empty where none is missing."""
    found = _NODE.search(text)
    if found is None:
        return ""
    return f"npm install {found.group(1)}" if has_modules else "npm install"
