from pathlib import Path

from .stage import FINAL, READ, RUN, Stage, kinds, loaded


def test_the_stage_reaches_success_only_on_evidence(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    state = stage.play(FINAL, RUN, FINAL, READ, FINAL)
    assert state.status == "success"
    assert stage.tool_runs == 2
    assert kinds(stage.events()).count("final") == 3


def test_the_stage_contract_is_one_that_loads(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    assert loaded(stage.root).digest == stage.contract.digest
