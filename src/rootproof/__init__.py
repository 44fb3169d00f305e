"""rootproof finds why something is wrong and can show it.

Importing the package does nothing; each name is loaded when it is first used.
"""

TYPE_CHECKING = False  # as ``typing`` has it; nothing is imported here, see ``__main__``
if TYPE_CHECKING:
    from rootproof.assemble import Contract, Options, load_contract, resume, run
    from rootproof.errors import ContractError, RootproofError
    from rootproof.models.interface import Model, Reply, View
    from rootproof.outcome import Outcome
    from rootproof.tools.interface import Observation, Tool, ToolSpec

__version__ = "0.1.0"

_HOMES = {
    "Contract": "assemble",
    "ContractError": "errors",
    "Model": "models.interface",
    "Observation": "tools.interface",
    "Options": "assemble",
    "Outcome": "outcome",
    "Reply": "models.interface",
    "RootproofError": "errors",
    "Tool": "tools.interface",
    "ToolSpec": "tools.interface",
    "View": "models.interface",
    "load_contract": "assemble",
    "resume": "assemble",
    "run": "assemble",
}

__all__ = [
    "Contract",
    "ContractError",
    "Model",
    "Observation",
    "Options",
    "Outcome",
    "Reply",
    "RootproofError",
    "Tool",
    "ToolSpec",
    "View",
    "load_contract",
    "resume",
    "run",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'rootproof' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"rootproof.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
