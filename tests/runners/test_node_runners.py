"""node:test and vitest, really run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from project_files import lay, run

from rootproof.runners.interface import Operand, Runner, Session, TestRequest
from rootproof.runners.node_test import NodeTest
from rootproof.runners.vitest import Vitest
from rootproof.sandbox.interface import Limits

MODULES = Path(__file__).parents[2] / "examples" / "login-redirect" / "typescript" / "node_modules"

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
needs_vitest = pytest.mark.skipif(
    shutil.which("node") is None or not (MODULES / "vitest" / "vitest.mjs").is_file(),
    reason="vitest is not installed in examples/login-redirect/typescript (npm ci)",
)

NODE_FILE = """
    import { after, afterEach, before, beforeEach, describe, it, test } from 'node:test'
    import assert from 'node:assert/strict'

    test('differs', () => { assert.equal('/', '/settings') })
    test('deep', () => { assert.deepEqual({ a: 1 }, { a: 2 }) })
    test('plain assert', () => { assert(0) })
    test('throws', () => { throw new TypeError('no') })
    describe('group', () => {
      it('inner > arrow', () => {})
      it('parent', async (t) => { await t.test('child', () => { assert.equal(1, 2) }) })
    })
    test('skipped', { skip: 'not today' }, () => {})
    test('todo', { todo: 'later' }, () => { throw new Error('not yet') })
    describe('before', () => { before(() => { throw new Error('early') }); it('one', () => {}) })
    describe('after', () => { after(() => { throw new Error('late') }); it('one', () => {}) })
    describe('each', () => { beforeEach(() => { throw new Error('each') }); it('one', () => {}) })
    describe('ended', () => { afterEach(() => { throw new Error('end') }); it('one', () => {}) })
"""
NODE_EXPECTED = {
    "differs": ("failed", True),
    "deep": ("failed", True),
    "plain assert": ("failed", True),
    "throws": ("failed", True),
    "group > inner > arrow": ("passed", True),
    "group > parent": ("failed", True),
    "group > parent > child": ("failed", True),
    "skipped": ("skipped", False),
    "todo": ("xfailed", True),
    "before > one": ("error", False),
    "after > one": ("error", True),
    "each > one": ("error", False),
    "ended > one": ("error", True),
}

VITEST_FILE = """
    import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
    import net from 'node:net'

    test('text', () => { expect('/').toBe('/settings') })
    test('digits as text', () => { expect('2').toBe('3') })
    test('numbers', () => { expect(2).toBe(3) })
    test('truth', () => { expect(true).toBe(false) })
    test('objects', () => { expect({ a: 1 }).toEqual({ a: 2 }) })
    test('throws', () => { throw new TypeError('no') })
    test('negated', () => { expect(1).not.toBe(1) })
    test.fails('known', () => { expect(1).toBe(2) })
    test.fails('surprise', () => {})
    test.skip('skipped', () => {})
    test('refused', async () => { await new Promise((_, no) => net.connect(9, '127.0.0.1').on('error', no)) })
    describe('group', () => { test('inner > arrow', () => {}) })
    describe('before', () => { beforeAll(() => { throw new Error('early') }); test('one', () => {}) })
    describe('after', () => { afterAll(() => { throw new Error('late') }); test('one', () => {}) })
    describe('each', () => { beforeEach(() => { throw new Error('each') }); test('one', () => {}) })
"""
VITEST_EXPECTED = {
    "text": ("failed", True),
    "digits as text": ("failed", True),
    "numbers": ("failed", True),
    "truth": ("failed", True),
    "objects": ("failed", True),
    "throws": ("failed", True),
    "negated": ("failed", True),
    "known": ("xfailed", True),
    "surprise": ("xpassed_strict", True),
    "skipped": ("skipped", False),
    "refused": ("failed", True),
    "group > inner > arrow": ("passed", True),
    "before > one": ("error", False),
    "after > one": ("error", True),
    "each > one": ("error", False),
}


def go(runner: Runner, root: Path, test: str, limits: Limits | None = None) -> Session:
    session, _ = run(runner, root, TestRequest((test,), writable=False), limits or Limits(seconds=60))
    return session


def outcomes(session: Session) -> dict[str, tuple[str, bool]]:
    return {result.id.partition("#")[2]: (result.status, result.executed) for result in session.results}


def sides(session: Session, test: str) -> tuple[Operand | None, Operand | None]:
    result = session.result(test)
    assert result is not None and result.failure is not None
    return result.failure.actual, result.failure.expected


def node_project(root: Path, content: str) -> Path:
    return lay(root, {"package.json": '{"type": "module"}\n', "a.test.mjs": content})


def vitest_project(root: Path, content: str) -> Path:
    lay(root, {"package.json": '{"type": "module", "devDependencies": {"vitest": "*"}}\n', "a.test.ts": content})
    (root / "node_modules").symlink_to(MODULES)
    return root


@needs_node
def test_node_every_outcome(tmp_path: Path) -> None:
    session = go(NodeTest(), node_project(tmp_path, NODE_FILE), "a.test.mjs")
    assert outcomes(session) == NODE_EXPECTED
    assert (session.status, session.finished) == ("error", True)
    assert sides(session, "a.test.mjs#differs") == (Operand("/"), Operand("/settings"))
    assert sides(session, "a.test.mjs#deep") == (Operand("{ a: 1 }", "repr"), Operand("{ a: 2 }", "repr"))
    assert sides(session, "a.test.mjs#plain assert") == (None, None)
    failure = session.results[0].failure
    assert failure is not None
    assert (failure.exception, failure.path, failure.line) == ("AssertionError", "a.test.mjs", 5)
    assert str(tmp_path) not in failure.traceback


@needs_node
@pytest.mark.parametrize(
    ("test", "status"),
    [
        ("group > inner > arrow", "passed"),
        ("differs", "failed"),
        ("todo", "xfailed"),
        ("before > one", "error"),
        ("absent", "not_found"),
    ],
)
def test_node_one_test_alone(tmp_path: Path, test: str, status: str) -> None:
    session = go(NodeTest(), node_project(tmp_path, NODE_FILE), f"a.test.mjs#{test}")
    assert session.status == status, session


@needs_node
@pytest.mark.parametrize(
    ("content", "status"),
    [
        ("const number = 1", "no_tests"),
        ("import 'no-such-package'\n", "collection_error"),
        ("import { test } from 'node:test'\ntest('a', () => {})\nthrow new Error('top')\n", "collection_error"),
        ("import { test } from 'node:test'\ntest('a', () => { process.exit(0) })\n", "incomplete"),
        ("import { test } from 'node:test'\ntest('a', () => { process.kill(process.pid, 'SIGSEGV') })\n", "crashed"),
        ("import { test } from 'node:test'\ntest('a', () => { throw 1 })\nprocess.on('exit', () => { process.exitCode = 0 })\n", "unknown"),
        ("import { test } from 'node:test'\ntest('a', () => { throw 1 })\nprocess.on('exit', () => { process.reallyExit(0) })\n", "unknown"),
        ("import { test } from 'node:test'\nconsole.log('ok 1 - a')\ntest('a', () => { throw 1 })\n", "failed"),
    ],
)  # fmt: skip
def test_node_what_is_no_plain_outcome(tmp_path: Path, content: str, status: str) -> None:
    session = go(NodeTest(), node_project(tmp_path, content), "a.test.mjs")
    assert session.status == status, session


@needs_node
def test_node_a_test_that_never_ends(tmp_path: Path) -> None:
    root = node_project(tmp_path, "import { test } from 'node:test'\ntest('a', () => { for (;;) ; })\n")
    session = go(NodeTest(), root, "a.test.mjs#a", Limits(seconds=3))
    assert session.status == "timeout"


@needs_node
def test_node_children_find_no_channel(tmp_path: Path) -> None:
    content = """
        import { test } from 'node:test'
        import assert from 'node:assert/strict'
        import { execFileSync } from 'node:child_process'

        test('a', () => {
          const seen = execFileSync(process.execPath, ['-e', `
            const fs = require('node:fs')
            const held = fs.readdirSync('/proc/self/fd').filter((fd) => Number(fd) > 2).map((fd) => {
              try { return fs.readlinkSync('/proc/self/fd/' + fd) } catch { return '' }
            })
            console.log(JSON.stringify([Object.keys(process.env).filter((k) => k.startsWith('ROOTPROOF_CH')), held.filter((x) => x.startsWith('pipe'))]))
          `]).toString()
          const [names] = JSON.parse(seen)
          assert.deepEqual(names, [])
        })
    """
    assert go(NodeTest(), node_project(tmp_path, content), "a.test.mjs").status == "passed"


@needs_node
def test_node_a_missing_package_is_answered_with_what_to_install(tmp_path: Path) -> None:
    session = go(NodeTest(), node_project(tmp_path, "import 'no-such-package'\n"), "a.test.mjs")
    assert session.mend == "npm install"


@needs_vitest
def test_vitest_every_outcome(tmp_path: Path) -> None:
    session = go(Vitest(), vitest_project(tmp_path, VITEST_FILE), "a.test.ts")
    assert outcomes(session) == VITEST_EXPECTED
    assert (session.status, session.finished) == ("error", True)
    assert sides(session, "a.test.ts#text") == (Operand("/"), Operand("/settings"))
    assert sides(session, "a.test.ts#digits as text") == (Operand("2"), Operand("3"))
    assert sides(session, "a.test.ts#numbers") == (Operand(2), Operand(3))
    assert sides(session, "a.test.ts#truth") == (Operand(True), Operand(False))
    assert sides(session, "a.test.ts#negated") == (None, None)
    refused = session.result("a.test.ts#refused")
    assert refused is not None
    assert refused.phases[1].blocked == ("connect 127.0.0.1:9: ECONNREFUSED",)
    failure = session.results[0].failure
    assert failure is not None
    assert (failure.exception, failure.path, failure.line) == ("AssertionError", "a.test.ts", 5)


@needs_vitest
def test_vitest_one_test_alone(tmp_path: Path) -> None:
    session = go(Vitest(), vitest_project(tmp_path, VITEST_FILE), "a.test.ts#group > inner > arrow")
    assert (session.status, session.collected) == ("passed", ("a.test.ts#group > inner > arrow",))


@needs_vitest
@pytest.mark.parametrize(
    ("content", "status"),
    [
        ("export const number = 1\n", "no_tests"),
        ("import 'no-such-package'\nimport { test } from 'vitest'\ntest('a', () => {})\n", "collection_error"),
        ("import { test } from 'vitest'\ntest('a', () => { process.kill(process.pid, 'SIGSEGV') })\n", "crashed"),
        ("import { test } from 'vitest'\ntest('a', () => { Promise.reject(new Error('lost')) })\ntest('b', async () => { await new Promise((r) => setTimeout(r, 50)) })\n", "unknown"),
        ("import { test, expect } from 'vitest'\nlet n = 0\ntest('a', { retry: 2 }, () => { n += 1; expect(n).toBe(2) })\n", "unknown"),
    ],
)  # fmt: skip
def test_vitest_what_is_no_plain_outcome(tmp_path: Path, content: str, status: str) -> None:
    session = go(Vitest(), vitest_project(tmp_path, content), "a.test.ts")
    assert session.status == status, session
    assert "passed" not in {result.status for result in session.results if result.id.endswith("#a")}


@needs_vitest
def test_vitest_a_test_that_is_not_there(tmp_path: Path) -> None:
    root = vitest_project(tmp_path, VITEST_FILE)
    assert go(Vitest(), root, "a.test.ts#absent").status == "not_found"
    assert go(Vitest(), root, "b.test.ts").status == "not_found"
