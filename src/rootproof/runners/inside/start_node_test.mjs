// Loaded before the test file: opens the channel, and tells of a file that cannot be loaded or holds no tests.
import { bounded, settings, write } from './rootproof_channel.mjs'

export const state = { reporting: false, began: false }

// Whether the file imported node:test. From then on only the reporter can tell that the session finished: a test that
// leaves with process.exit(0) looks like a file without tests from here.
const hasHarness = () => (process.moduleLoadList ?? ['internal/test_runner']).some((name) => name.includes('internal/test_runner'))

if (settings !== null) {
  write('start', { versions: { node: process.versions.node }, flags: [] })
  process.on('uncaughtExceptionMonitor', (error) => {
    if (!state.began) write('collect_error', { id: settings.tests[0], text: bounded(error?.stack ?? error, 8000) })
  })
  process.on('exit', (code) => {
    if (!state.reporting && !hasHarness()) write('finish', { exit: code })
  })
}
