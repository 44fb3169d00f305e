// The private result channel for JavaScript runners; the form is that of rootproof_channel.py.
// The descriptor and the settings are taken out of the environment at once, so that no child finds them.
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect, stripVTControlCharacters } from 'node:util'

const MESSAGE_LIMIT = 4000
const TRACE_LIMIT = 12000
const VALUE_LIMIT = 2000
const FRAME_LIMIT = 60
const REFUSALS = new Set([
  'EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'ENETUNREACH', 'EHOSTUNREACH', 'ENETDOWN', 'EADDRNOTAVAIL',
  'EAFNOSUPPORT', 'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL',
])

function open() {
  const descriptor = Number(process.env.ROOTPROOF_CHANNEL_FD ?? -1)
  const settings = JSON.parse(process.env.ROOTPROOF_SETTINGS ?? 'null')
  delete process.env.ROOTPROOF_CHANNEL_FD
  delete process.env.ROOTPROOF_SETTINGS
  if (settings === null || descriptor < 0) return { settings: null, write() {} }
  const at = fs.fstatSync(descriptor)
  let sequence = 0
  const write = (kind, fields = {}) => {
    const record = ascii(JSON.stringify({ nonce: settings.nonce, seq: sequence, kind, ...fields }))
    try {
      const now = fs.fstatSync(descriptor)
      if (now.dev !== at.dev || now.ino !== at.ino) return
      sequence += 1
      writeAll(descriptor, Buffer.from(`${record}\n`))
    } catch {
      // A lost channel shows as missing records; it must not change what the tests do.
    }
  }
  return { settings, write }
}

function writeAll(descriptor, bytes) {
  let done = 0
  while (done < bytes.length) {
    try {
      done += fs.writeSync(descriptor, bytes, done)
    } catch (fault) {
      if (fault.code !== 'EAGAIN') throw fault
    }
  }
}

const ascii = (text) => text.replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)

export const { settings, write } = open()
export const root = path.normalize(path.join(process.cwd(), settings?.root ?? '.'))
const realRoot = fs.realpathSync(root)

export function bounded(text, limit = MESSAGE_LIMIT) {
  const whole = stripVTControlCharacters(String(text))
  if (whole.length <= limit) return whole
  const half = limit >> 1
  return `${whole.slice(0, half)}\n[... ${whole.length - 2 * half} characters cut ...]\n${whole.slice(-half)}`
}

export function relative(file) {
  if (!file) return ''
  const whole = file.startsWith('file:') ? fileURLToPath(file) : file
  for (const base of [root, realRoot]) {
    const inner = path.relative(base, whole)
    if (path.isAbsolute(whole) && inner && !inner.startsWith('..')) return inner
  }
  return ''
}

const own = (file) => (relative(file).split('/').includes('node_modules') ? '' : relative(file))

// [path, line, function], outermost first, the repository's own code only.
export function frames(stack) {
  const found = []
  for (const line of String(stack ?? '').split('\n')) {
    const at = /^\s*at (?:(.*?) \()?((?:file:\/\/)?\/[^()]*?):(\d+):\d+\)?$/.exec(line)
    const file = at ? own(at[2]) : ''
    if (file) found.unshift([file, Number(at[3]), at[1] ?? ''])
  }
  return found.slice(-FRAME_LIMIT)
}

// Strings, numbers, booleans and null by value where JSON holds them exactly, all else as node shows it.
export function operand(value) {
  const exact =
    value === null ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0)) ||
    (typeof value === 'string' && value.length <= VALUE_LIMIT && value.isWellFormed?.() !== false)
  if (exact) return { value, by: 'value' }
  return { value: bounded(shown(value), VALUE_LIMIT), by: 'repr' }
}

function shown(value) {
  try {
    return inspect(value, { depth: 4, breakLength: 120 })
  } catch {
    return '<a value that cannot be shown>'
  }
}

export function failure(error, phase, sides = {}, places = frames(error?.stack)) {
  const message = bounded(error?.message ?? shown(error))
  const last = places.at(-1)
  return {
    exception: String(error?.name ?? typeof error),
    message: message.replaceAll(`${root}/`, ''),
    phase,
    traceback: bounded(error?.stack ?? message, TRACE_LIMIT).replaceAll(`${root}/`, ''),
    frames: places,
    ...(last ? { path: last[0], line: last[1] } : {}),
    ...sides,
  }
}

// What containment may have refused, from the error codes of a failure and its causes.
export function refusals(error) {
  const lines = new Set()
  let link = error
  for (let depth = 0; link && depth < 10; depth += 1) {
    for (const one of [link, ...(Array.isArray(link.errors) ? link.errors : [])]) {
      if (!REFUSALS.has(one?.code)) continue
      const place = one.path ?? one.hostname ?? [one.address, one.port].filter(Boolean).join(':')
      lines.add(`${one.syscall ?? 'error'} ${place}: ${one.code}`.replaceAll(`${root}/`, '').slice(0, 200))
    }
    link = link.cause
  }
  return [...lines].slice(0, 20)
}

// One test's records: set-up, call (where set-up passed) and tear-down.
export function report(test) {
  const { id, failed = '', error = null, skipped = false, mark = '', reason = '', seconds = 0, sides = {} } = test
  write('collected', { ids: [id] })
  write('begin', { id })
  const told = error ? failure(error, failed || 'call', sides, test.places) : null
  const blocked = error ? refusals(error) : []
  const phase = (name, outcome, more = {}) => write('phase', { id, phase: name, outcome, blocked: [], ...more })
  const fault = { failure: told, blocked, reason }
  if (failed === 'setup' || skipped) {
    phase('setup', failed ? 'failed' : 'skipped', failed ? fault : { reason })
  } else {
    const outcome = mark === 'xfail' ? 'skipped' : failed === 'call' ? 'failed' : 'passed'
    phase('setup', 'passed')
    phase('call', outcome, { seconds, mark, ...(failed === 'call' || mark ? fault : { reason }) })
  }
  phase('teardown', failed === 'teardown' ? 'failed' : 'passed', failed === 'teardown' ? fault : {})
}
