import { globSync } from 'node:fs'
import { newReach } from './imports.ts'

/** What can be told of a test file from its path and from what it imports. */
export type TestFile = {
  readonly file: string
  /** Needs nothing but the processor: neither database nor service nor process. */
  readonly isPure: boolean
  readonly needsDatabase: boolean
  /** Opens a log, or a service, wherever the run has its logs. */
  readonly touchesLog: boolean
  /** Whether it may share a process with others: it takes few seconds, starts no process, and looks at no memory. */
  readonly isShort: boolean
  /** 0 is what `npm test` runs, 1 starts processes. From 2 on it may be left out for lack of time, the highest first. */
  readonly rank: 0 | 1 | 2 | 3
}

/** By these a file starts processes: those of `recheck` search the paths of a regular expression. */
const PROCESSES = ['node:child_process', 'recheck']

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

/** Paths of test files, by how they begin. */
type Starts = readonly string[]

/** Tests that kill, freeze and cut off, again and again, or handle very much at once: half of the time of all. */
const HEAVY: Starts = [
  'bench/measure',
  'commands/exit-codes',
  'commands/kill',
  'commands/log/copy-embedded',
  'commands/log/quarantine',
  'commands/sync',
  'embedded/account',
  'embedded/crash',
  'embedded/postgres',
  'embedded/stop',
  'engine/lost-tail',
  'engine/open-groups',
  'engine/quarantine',
  'engine/reads-crash',
  'engine/rebuild-leftovers',
  'engine/same-log',
  'erasure/frozen',
  'fault/',
  'log/copied',
  'log/copy/',
  'log/eventstoredb.',
  'log/eventstoredb/chaos',
  'log/eventstoredb/filtered-read',
  'log/eventstoredb/late',
  'log/eventstoredb/neighbours',
  'log/eventstoredb/processes',
  'log/postgres/chaos',
  'postgres/leader',
  'proof/verify/tampering-again',
  'realtime/many',
  'realtime/unread',
  'summary/catch-up',
  'summary/frozen',
  'summary/process.',
  'sync/agents/claude-code/huge',
]

/** Tests that play the same many times over, to meet what happens seldom. */
const SOAK: Starts = [
  'fault/disk',
  'fault/erasure',
  'fault/history',
  'namespace/lost-',
  'namespace/taken',
  'session/lost-',
  'summary/failures',
  'trace/lost-',
  'user/lost-',
]

/** Files that take long: they begin first, so that none of them ends alone, each in a process of its own. */
const LONG: Starts = [
  'access/traces',
  'connections',
  'engine/nodes',
  'engine/progress',
  'engine/reads',
  'engine/rebuild',
  'engine/refusals',
  'engine/runner',
  'engine/weights',
  'erasure/',
  'export/routes',
  'history/past.',
  'http/hostile',
  'http/intake',
  'http/long-lists',
  'http/page-bytes',
  'log/eventstoredb/follows',
  'log/postgres.',
  'proof/other-logs',
  'proof/process',
  'proof/verify/tampering.',
  'realtime/routes',
  'retention/process',
  'session/sign-up',
  'signin/confirm',
  'sync/transfer/round-trip',
  'trace/cut-off',
  'trace/locate',
  'trace/long-lists',
]

const isOneOf = (starts: Starts, file: string) => starts.some((start) => file.startsWith(`test/${start}`))
const isLong = (file: string) => isOneOf(LONG, file)

/** What is said above of files that are not, or no more, among these. */
export const namedInVain = (files: readonly string[]): string[] =>
  [...HEAVY, ...SOAK, ...LONG].filter((start) => !files.some((file) => file.startsWith(`test/${start}`)))

const rankOf = (file: string, reached: ReadonlySet<string>) => {
  if (isOneOf(SOAK, file)) return 3
  if (isOneOf(HEAVY, file)) return 2
  return PROCESSES.some((name) => reached.has(name)) ? 1 : 0
}

/** The test files whose paths contain one of the filters, or all, in the order in which they are best begun. */
export const testFiles = (root: string, filters: readonly string[]): TestFile[] => {
  const reach = newReach(root)
  return globSync('test/**/*.test.ts', { cwd: root })
    .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
    .sort((a, b) => Number(isLong(b)) - Number(isLong(a)) || a.localeCompare(b))
    .map((file) => {
      const reached = reach(file)
      const rank = rankOf(file, reached)
      return {
        file,
        isPure: !IMPURE.some((name) => reached.has(name)),
        needsDatabase: reached.has('test/support/database.ts'),
        touchesLog: reached.has('test/support/log-place.ts'),
        isShort: rank === 0 && !isLong(file) && !reached.has(MEMORY),
        rank,
      }
    })
}
