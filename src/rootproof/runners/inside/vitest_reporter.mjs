// The vitest reporter that writes to the private channel. Tests run in vitest's own workers; this runs in its main
// process, so that what a test prints or kills does not reach the records.
import { bounded, frames, operand, relative, report, settings, write } from './rootproof_channel.mjs'

const SEPARATOR = ' > '
let failures = 0

const errorsOf = (task) => task.result?.errors ?? (task.result?.error ? [task.result.error] : [])

function places(error) {
  const stacks = error?.stacks ?? []
  const found = stacks
    .map((frame) => [relative(frame.file), frame.line, frame.method ?? ''])
    .filter(([file]) => file && !file.split('/').includes('node_modules'))
  return found.length > 0 ? found.reverse() : frames(error?.stack)
}

// vitest turns both sides into text before it sends them; the message still shows which of them was a string.
function side(value, message) {
  if (typeof value !== 'string') return operand(value)
  if (message.includes(`'${value.slice(0, 20)}`)) return operand(value)
  const isWord = (word) => new RegExp(`(^|[\\s(])${word.replace(/[.+]/g, '\\$&')}($|[\\s,)])`).test(message)
  if (/^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(value) && isWord(value)) return operand(Number(value))
  if (/^(true|false|null)$/.test(value) && isWord(value)) return operand(JSON.parse(value))
  return { value: bounded(value, 2000), by: 'repr' }
}

function sidesOf(error) {
  const message = String(error?.message ?? '')
  if (!('expected' in (error ?? {})) || !('actual' in error) || !/to (deeply |strictly )?(be|equal)\b/.test(message)) return {}
  if (/\bnot to\b/.test(message)) return {}
  return { actual: side(error.actual, message), expected: side(error.expected, message) }
}

function outcome(task, inherited) {
  const [error] = errorsOf(task)
  const state = task.result?.state
  if (inherited && state !== 'pass' && state !== 'fail') return { failed: 'setup', error: inherited }
  if (task.mode === 'skip' || task.mode === 'todo' || state === 'skip') return { skipped: true, reason: task.result?.note ?? '' }
  if (task.fails) return state === 'pass' ? { mark: 'xfail' } : { mark: 'strict', failed: 'call', reason: 'expected to fail' }
  const retries = task.result?.retryCount ?? 0
  const first = state === 'pass' && retries > 0 && settings.retries_off
  if (state === 'pass' && !first) return {}
  if (state !== 'pass' && state !== 'fail') return { unreported: true }
  const hooks = task.result?.hooks ?? {}
  const bad = (hook) => hook === 'run' || hook === 'fail'
  const failed = bad(hooks.beforeEach) ? 'setup' : bad(hooks.afterEach) ? 'teardown' : 'call'
  if (first) return { failed: 'call', error, sides: sidesOf(error), places: places(error), again: true, reason: 'passed when tried again' }
  return { failed, error, sides: sidesOf(error), places: places(error) }
}

function walk(task, file, names, inherited, found) {
  if (task.type !== 'suite') {
    const id = `${file}#${[...names, task.name].join(SEPARATOR)}`
    const seconds = (task.result?.duration ?? 0) / 1000
    found.push({ id, seconds, ...outcome(task, inherited) })
    return
  }
  const first = found.length
  const [own] = task.filepath ? [] : errorsOf(task)
  const below = task.filepath ? [] : [task.name]
  for (const child of task.tasks) walk(child, file, [...names, ...below], inherited ?? own ?? fileError(task), found)
  const last = found.at(-1)
  const cause = own ?? fileError(task)
  const hit = found.slice(first).some((test) => test.error === cause)
  if (cause && !hit && found.length > first && !last.failed) Object.assign(last, { failed: 'teardown', error: cause })
}

const fileError = (task) => (task.filepath && task.tasks.length > 0 ? errorsOf(task)[0] : undefined)

const wanted = (id) => settings.tests.some((test) => id === test || id.startsWith(`${test}#`))

function tell(file) {
  const name = relative(file.filepath)
  if (file.tasks.length === 0 && file.result?.state === 'fail' && errorsOf(file).length > 0) {
    const [error] = errorsOf(file)
    const text = bounded(error.stack ?? error.message, 8000)
    failures += 1
    if (!/^No test suite found/.test(error.message)) write('collect_error', { id: name, text })
    return
  }
  const found = []
  walk(file, name, [], undefined, found)
  for (const test of found.filter((one) => wanted(one.id))) {
    if (test.unreported) write('collected', { ids: [test.id] })
    else report(test)
  }
  failures += found.filter((test) => test.failed && !test.again).length
}

export default class Reporter {
  onInit(vitest) {
    if (settings !== null) write('start', { versions: { node: process.versions.node, vitest: vitest.version }, flags: [] })
  }

  onTestCaseReady(testCase) {
    const names = testCase.fullName.split(SEPARATOR)
    const id = `${relative(testCase.module.moduleId)}#${names.join(SEPARATOR)}`
    if (settings !== null && wanted(id)) write('running', { id })
  }

  onTestRunEnd(modules, errors) {
    this.end(modules.map((module) => module.task), errors)
  }

  onFinished(files, errors) {
    this.end(files ?? [], errors)
  }

  end(files, errors) {
    if (settings === null || this.ended) return
    this.ended = true
    for (const file of files) tell(file)
    for (const error of errors ?? []) {
      const what = /\[vitest-pool\]|[Ww]orker .*exited|unexpectedly/.test(error?.message) ? 'internal' : 'unhandled'
      write('problem', { what, text: bounded(error?.stack ?? error?.message ?? error, 8000) })
    }
    const none = files.length === 0 && (errors ?? []).length === 0
    write('finish', { exit: failures > 0 || (errors ?? []).length > 0 || none ? 1 : 0 })
  }
}
