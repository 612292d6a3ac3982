import { globSync } from 'node:fs'
import { newReach } from './imports.ts'

/** What the runner knows of a test file by its path and its imports. */
export type TestFile = {
  readonly file: string
  /** Needs nothing but the processor: neither database nor service nor process. */
  readonly isPure: boolean
  readonly needsDatabase: boolean
  /** Opens a log, or a service, wherever the run has its logs. */
  readonly touchesLog: boolean
  /** Whether it needs a process in which no other file has run. */
  readonly isAlone: boolean
  /** Whether `npm test` runs it. It leaves out what starts processes, and what is slow. */
  readonly isQuick: boolean
  /** Whether `--times` makes it repeat more. */
  readonly repeats: boolean
}

/**
 * By these tests and their helpers start processes: those of `recheck` search the paths of a regular expression. Sources start
 * some, too, which does not count: every command could, and few tests let it.
 */
const PROCESSES = ['node:child_process', 'recheck', 'playwright-core']

/** A memory that is looked at has to be the file’s own. */
const MEMORY = 'node:v8'

/** By these a file reaches what is outside of its own values. */
const IMPURE = [
  ...PROCESSES,
  '@eventstore/db-client',
  '@grpc/grpc-js',
  'fastify',
  'node:http',
  MEMORY,
  'pg',
  'tinypool',
]

/** Files that take more than ten seconds of a processor, or that wait for long: paths, by how they begin. */
const SLOW = [
  'access/traces',
  'commands/audit/',
  'commands/exit-codes',
  'commands/log/',
  'commands/sync-logs',
  'commands/users',
  'connections',
  'engine/lost-',
  'engine/open-groups',
  'engine/quarantine',
  'engine/rebuild.',
  'engine/runner',
  'engine/same-log',
  'engine/state-sizes',
  'erasure/',
  'export/routes',
  'fault/',
  'history/erase',
  'history/past.',
  'http/hostile',
  'http/intake',
  'http/large-answers',
  'http/long-lists',
  'http/list-page',
  'log/copy/',
  'log/eventstoredb.',
  'log/eventstoredb/chaos',
  'log/eventstoredb/filtered-read',
  'log/eventstoredb/late',
  'log/eventstoredb/neighbours',
  'log/postgres/chaos',
  'postgres/leader',
  'proof/other-logs',
  'proof/process',
  'proof/verify/tampering',
  'realtime/hostile',
  'realtime/many',
  'realtime/unread',
  'retention/process',
  'summary/process.',
  'sync/agents/claude-code/huge',
  'trace/cut-off',
  'trace/list-plans',
  'trace/locate',
  'trace/long-lists',
]

const isSlow = (file: string) => SLOW.some((start) => file.startsWith(`test/${start}`))

/** Entries of `SLOW` that no file matches. */
export const namedInVain = (files: readonly string[]): string[] =>
  SLOW.filter((start) => !files.some((file) => file.startsWith(`test/${start}`)))

/** The test files whose paths contain one of the filters, or all. */
export const testFiles = (root: string, filters: readonly string[]): TestFile[] => {
  const reach = newReach(root)
  const reachOfTests = newReach(root, { within: 'test/' })
  return globSync('test/**/*.test.ts', { cwd: root })
    .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
    .sort()
    .map((file) => {
      const reached = reach(file)
      const ofTests = reachOfTests(file)
      const startsProcesses = PROCESSES.some((name) => ofTests.has(name))
      return {
        file,
        isPure: !IMPURE.some((name) => reached.has(name)),
        needsDatabase: reached.has('test/support/database.ts'),
        touchesLog: reached.has('test/support/log-place.ts'),
        isAlone: startsProcesses || ofTests.has(MEMORY),
        isQuick: !startsProcesses && !isSlow(file),
        repeats: ofTests.has('test/support/runs.ts'),
      }
    })
}
