"""langgraph with its SQLite saver over the same steps: a model node, a tool node, the whole conversation as state.

Run by ``controller.py`` in an environment of its own: STEPS → one JSON line.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages


class State(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]


def main() -> None:
    steps = int(sys.argv[1])
    sent = asked = 0

    def model(state: State) -> dict:
        nonlocal sent, asked
        sent += sum(len(str(message.content)) for message in state["messages"])
        asked += 1
        call = {"name": "look", "args": {"part": asked}, "id": f"call-{asked}"}
        return {"messages": [AIMessage(content=f"look at {asked}", tool_calls=[call])]}

    def tool(state: State) -> dict:
        return {"messages": [ToolMessage(content="x" * 2048, tool_call_id=state["messages"][-1].tool_calls[0]["id"])]}

    graph = StateGraph(State)
    graph.add_node("model", model)
    graph.add_node("tool", tool)
    graph.add_edge(START, "model")
    graph.add_edge("model", "tool")
    graph.add_conditional_edges("tool", lambda _: END if asked >= steps else "model")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "checkpoints.sqlite3"
        connection = sqlite3.connect(place, check_same_thread=False)
        compiled = graph.compile(checkpointer=SqliteSaver(connection))
        settings = {"configurable": {"thread_id": "1"}, "recursion_limit": 4 * steps + 10}
        start = time.process_time()
        compiled.invoke({"messages": [HumanMessage(content="look at every part")]}, settings)
        end = time.process_time()
        connection.close()
        store = sum(path.stat().st_size for path in Path(folder).glob("checkpoints.sqlite3*"))
    print(json.dumps({"steps": asked, "cpu_s": end - start, "characters": sent, "store": store}))


if __name__ == "__main__":
    main()
