"""The same repository at another path of the same machine gives the same observations, byte for byte once normalised."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gate.real import REGRESSION, RealStore
from rootproof import assemble, comparable
from rootproof.models.scripted import from_file
from tree_guard import changed, manifest


def observations(store: RealStore) -> list[dict[str, Any]]:
    """One whole run of the reference case, and all it observed."""
    before = manifest(store.root)
    options = replace(store.options([]), model=from_file(store.root / "policy.py"))
    ended = assemble.run(store.load(store.document()), options)
    assert ended.status == "success", ended.reason
    assert changed(before, manifest(store.root)) == []
    opened = assemble.open_store(store.path, read_only=True)
    found = []
    for one in opened.events(ended.run):
        if one.event.type == "observed":
            attached = {name: opened.blob(digest) for name, digest in one.event.attachments.items()}
            found.append(comparable.observation(one.event, str(store.root), attached))
    opened.close()
    return found


def test_a_run_elsewhere_observes_the_same(tmp_path: Path) -> None:
    here, there = RealStore(tmp_path / "here"), RealStore(tmp_path / "a longer way" / "there")
    (there.root / ".git").mkdir()
    (there.root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    one, other = observations(here), observations(there)
    assert [seen["tool"] for seen in one] == ["run_test", "search_code", "read_file", "read_file", "run_test"]
    assert one == other
    assert str(tmp_path) not in repr(one)
    assert one[0]["fields"]["test"] == REGRESSION
    assert one[0]["fields"]["message"]


@given(st.text(max_size=60), st.sampled_from(["/srv/a", "/home/u/some where", "/tmp/x"]))
def test_the_place_of_the_repository_does_not_show(words: str, root: str) -> None:
    told = f"{words}\n{root}/src/a.py: {words}"
    assert comparable.text(told, root) == comparable.text(told.replace(root, "/opt/elsewhere"), "/opt/elsewhere")
