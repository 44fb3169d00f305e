// The node:test reporter that writes to the private channel. Results wait until their outermost test or suite is
// done, since a hook of a suite may still fail on their account.
import { operand, relative, report, settings, write } from './rootproof_channel.mjs'
import { state } from './start_node_test.mjs'

const SEPARATOR = ' > '
const UNSELECTED = 'test name does not match pattern'
const EQUALITY = new Set(['strictEqual', 'deepStrictEqual', 'equal', 'deepEqual', '=='])

const running = []
const reporting = []
let batch = []
let failures = 0

const idOf = (data, names) => `${relative(data.file) || settings.tests[0].split('#')[0]}#${names.join(SEPARATOR)}`

function sidesOf(cause) {
  if (cause?.code !== 'ERR_ASSERTION' || !EQUALITY.has(cause.operator)) return {}
  if (cause.operator === '==' && cause.expected === true) return {}
  return { actual: operand(cause.actual), expected: operand(cause.expected) }
}

function phaseOf(error) {
  if (error?.failureType !== 'hookFailed') return 'call'
  return /after/i.test(error.message) ? 'teardown' : 'setup'
}

function note(type, data) {
  const names = [...reporting.slice(0, data.nesting), data.name]
  const error = data.details?.error
  const test = { id: idOf(data, names), depth: data.nesting, names, seconds: (data.details?.duration_ms ?? 0) / 1000 }
  if (data.details?.type === 'suite') {
    if (error?.failureType === 'hookFailed') spread(test.id, data.nesting, error)
  } else if (data.skip === UNSELECTED) {
    return
  } else {
    batch.push({ ...test, ...outcome(type, data, error) })
  }
  if (type === 'test:fail' && data.todo === undefined) failures += 1
}

function outcome(type, data, error) {
  const cause = error?.cause instanceof Error ? error.cause : error
  const reason = String(data.skip ?? data.todo ?? '').replace(/^true$/, '')
  if (data.skip !== undefined) return { skipped: true, reason }
  if (type === 'test:pass') return data.todo === undefined ? {} : { mark: 'xfail', skipped: true, reason }
  if (data.todo !== undefined) return { mark: 'xfail', error: cause, reason }
  const failed = phaseOf(error)
  return { failed, error: cause, sides: sidesOf(cause), cancelled: error?.failureType === 'cancelledByParent' }
}

// A suite's hook failed: its cancelled tests could not be set up, or its last one could not be torn down.
// Where none of its tests was selected, the suite itself is told of: its hooks ran all the same.
function spread(id, depth, error) {
  const inner = batch.filter((test) => test.depth > depth)
  const cancelled = inner.filter((test) => test.cancelled)
  const cause = error.cause instanceof Error ? error.cause : error
  for (const test of cancelled) Object.assign(test, { failed: 'setup', error: cause, cancelled: false })
  const last = inner.at(-1)
  if (!last) batch.push({ id, depth, failed: 'setup', error: cause })
  if (cancelled.length === 0 && last && !last.failed) Object.assign(last, { failed: 'teardown', error: cause, sides: {} })
}

function flush() {
  for (const test of batch) report(test)
  batch = []
}

export default async function* reporter(source) {
  state.reporting = true
  for await (const { type, data } of source) {
    if (settings === null) continue
    if (type === 'test:dequeue') {
      state.began = true
      running.length = data.nesting
      running.push(data.name)
      write('running', { id: idOf(data, running) })
    } else if (type === 'test:start') {
      reporting.length = data.nesting
      reporting.push(data.name)
    } else if (type === 'test:pass' || type === 'test:fail') {
      note(type, data)
      if (data.nesting === 0) flush()
    } else if (type === 'test:plan' && data.nesting === 0) {
      flush()
      write('finish', { exit: failures > 0 ? 1 : 0 })
    } else if (type === 'test:stdout' || type === 'test:stderr') {
      yield data.message
    }
  }
}
