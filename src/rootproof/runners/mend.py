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

OPTIONS = {
    "cov": "pytest-cov",
    "no-cov": "pytest-cov",
    "n": "pytest-xdist",
    "numprocesses": "pytest-xdist",
    "dist": "pytest-xdist",
    "timeout": "pytest-timeout",
    "reruns": "pytest-rerunfailures",
    "asyncio": "pytest-asyncio",
    "benchmark": "pytest-benchmark",
    "ds": "pytest-django",
    "reuse-db": "pytest-django",
    "nomigrations": "pytest-django",
    "no-migrations": "pytest-django",
    "html": "pytest-html",
    "self-contained-html": "pytest-html",
    "json-report": "pytest-json-report",
    "randomly": "pytest-randomly",
    "random-order": "pytest-random-order",
    "alluredir": "allure-pytest",
    "snapshot": "syrupy",
    "flake8": "pytest-flake8",
    "mypy": "pytest-mypy",
    "ruff": "pytest-ruff",
    "black": "pytest-black",
    "mpl": "pytest-mpl",
    "doctest-plus": "pytest-doctestplus",
    "doctest-rst": "pytest-doctestplus",
    "disable-socket": "pytest-socket",
    "allow-hosts": "pytest-socket",
    "record-mode": "pytest-recording",
    "block-network": "pytest-recording",
    "typeguard": "typeguard",
    "hypothesis": "hypothesis",
    "picked": "pytest-picked",
    "testmon": "pytest-testmon",
    "durations-path": "pytest-split",
    "splits": "pytest-split",
    "env": "pytest-dotenv",
    "envfile": "pytest-dotenv",
    "nbval": "nbval",
}
"""Beginning of a command-line option of pytest → the distribution whose plugin has it."""
SETTINGS = {
    "asyncio_mode": "pytest-asyncio",
    "asyncio_default_fixture_loop_scope": "pytest-asyncio",
    "timeout": "pytest-timeout",
    "timeout_method": "pytest-timeout",
    "env": "pytest-env",
    "DJANGO_SETTINGS_MODULE": "pytest-django",
    "django_find_project": "pytest-django",
    "qt_api": "pytest-qt",
    "mock_use_standalone_module": "pytest-mock",
    "randomly_seed": "pytest-randomly",
    "trio_mode": "pytest-trio",
    "doctest_plus": "pytest-doctestplus",
}
"""Entry of pytest's settings → the distribution whose plugin knows it."""

_UNKNOWN_OPTIONS = re.compile(r"error: unrecognized arguments: ([^\n]+)")
_REQUIRED = re.compile(r"Missing required plugins: ([\w.,<>=!~ \[\]-]{1,300})")
_PLUGIN = re.compile(r"Error importing plugin \"([\w.]+)\": No module named '([\w.]+)'")
_SETTING = re.compile(r"Unknown config option: (\w+)")

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


def for_settings(text: str, config: str) -> str:
    """What to install, or to take out of the settings, where they ask for a pytest plugin that is not there.

    Args:
        config: root-relative file that holds the settings; empty: unknown.
    """
    where = f" of {config}" if config else ""
    if found := _UNKNOWN_OPTIONS.search(text):
        options = [word.partition("=")[0] for word in found.group(1).split() if re.fullmatch(r"--?[\w-]+(=.*)?", word)]
        plugins = [plugin for plugin in map(_plugin_of, options) if plugin]
        asked = ", ".join(options) or "arguments nothing knows"
        install = f"pip install {' '.join(dict.fromkeys(plugins))}" if plugins else "pip install the plugin that has it"
        return f"{install} (the settings ask for {asked}), or take {asked} out of addopts{where}"
    if found := _REQUIRED.search(text):
        wanted = found.group(1)
        return (
            f"pip install {_quoted(wanted)} (required_plugins asks for it), or take it out of required_plugins{where}"
        )
    if found := _PLUGIN.search(text):
        name, missing = found.groups()
        return (
            f"pip install what holds {missing} (the settings load it by -p {name}), or take that out of addopts{where}"
        )
    if found := _SETTING.search(text):
        name = found.group(1)
        plugin = SETTINGS.get(name, f"the plugin that knows {name}")
        return f"pip install {plugin} (the settings hold {name}), or take {name} out{where and ' ' + where.strip()}"
    return ""


def _plugin_of(option: str) -> str:
    """The distribution of a plugin by one of its options; empty where it is not known."""
    name = option.lstrip("-")
    return next((plugin for known, plugin in OPTIONS.items() if name == known or name.startswith(f"{known}-")), "")


def _quoted(wanted: str) -> str:
    return " ".join(f"'{each.strip()}'" for each in wanted.split(","))


def for_node(text: str, has_modules: bool) -> str:
    """What to install for the first missing package in the text; empty where none is missing."""
    found = _NODE.search(text)
    if found is None:
        return ""
    return f"npm install {found.group(1)}" if has_modules else "npm install"
