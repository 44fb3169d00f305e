"""An observation without what differs between two runs that saw the same: to compare runs, never to judge one. Pure.

Two runs whose first events agree in contract, scope, rules and tools, on one machine, make the same observations, byte
for byte, once this is left out or replaced:

- the path at which the repository lay (``<root>``);
- what differs between any two runs of a test, by the rules of :mod:`rootproof.signature`: times, durations, addresses,
  temporary places, process numbers, the mark of the run's records;
- measured seconds inside records, and the cost of the observation;
- the observation's digest, and its captures' digests, which are over the bytes before this.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rootproof.canonical import Json, as_json
from rootproof.event import Observed
from rootproof.signature import normalised

_SECONDS = re.compile(r'("seconds": )-?[0-9.]+(?:e-?[0-9]+)?')


def observation(observed: Observed, root: str, attachments: Mapping[str, bytes]) -> dict[str, Json]:
    """The observation as plain data; equal for equal findings.

    Args:
        root: where the repository lay in this run.
        attachments: the stored bytes, by name; files that were read are compared as they are.
    """
    told = as_json(observed.model_dump(mode="json", exclude={"digest", "usage", "attachments"}))
    assert isinstance(told, dict)
    captures = {
        name: data.decode("latin-1") if name in observed.reads else text(data.decode("latin-1"), root)
        for name, data in attachments.items()
    }
    return {**{key: _value(value, root) for key, value in told.items()}, "attachments": {**captures}}


def text(told: str, root: str) -> str:
    """One text of an observation."""
    return _SECONDS.sub(r"\1<seconds>", normalised(told.replace(root, "<root>")))


def _value(value: Json, root: str) -> Json:
    if isinstance(value, str):
        return text(value, root)
    if isinstance(value, Mapping):
        return {key: _value(item, root) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_value(item, root) for item in value]
    return value
