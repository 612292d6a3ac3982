import { globSync } from 'node:fs'
import { newReach } from './imports.ts'

/** What the runner knows about a test file from its path and its imports. */
export type TestFile = {
  readonly file: string
  /** Whether it needs only the processor: no database, service or process. */
  readonly isPure: boolean
  readonly needsDatabase: boolean
  /** Whether it opens a log or a service, in the store in which the run has its logs. */
  readonly touchesLog: boolean
  /** Whether it needs a process in which no other file has run. */
  readonly isAlone: boolean
  /** Whether `npm test` runs it, which leaves out files that start processes or are slow. */
  readonly isQuick: boolean
  /** Whether `--times` makes it repeat more. */
  readonly repeats: boolean
}

/**
 * Imports by which tests and their helpers start processes (`recheck` starts some to search the paths of a regular expression). Only
 * imports of tests count, not those of sources: every command could start processes, and few tests let it.
 */
const PROCESSES = ['node:child_process', 'recheck', 'playwright-core']

/** Imports by which a file measures memory, so that it needs a process of its own. */
const MEMORY = 'node:v8'

/** Imports by which a file uses more than the processor. */
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

/** The beginning of the paths of files that run only when they are named: they install programs of others, whose newest versions decide what comes out. */
export const ONLY_NAMED = 'test/client/programs/'

/** The beginnings of the paths of files that take more than ten seconds of processor time, or that wait for long. */
const SLOW = [
  'access/traces',
  'client/agents/added-lines',
  'client/agents/ccusage',
  'client/agents/claude-code/huge',
  'client/upload/restored',
  'client/upload/two-writers',
  'commands/audit/',
  'commands/exit-codes',
  'commands/log/',
  'commands/login',
  'commands/loss',
  'commands/mcp',
  'commands/new-address',
  'commands/recorded-sessions',
  'commands/sync-logs',
  'commands/users',
  'connections',
  'eventstore/engine/lost-',
  'eventstore/engine/nodes',
  'eventstore/engine/open-groups',
  'eventstore/engine/quarantine',
  'eventstore/engine/rebuild.',
  'eventstore/engine/runner',
  'eventstore/engine/same-log',
  'eventstore/engine/state-sizes',
  'eventstore/log/chaos',
  'eventstore/log/copy/',
  'eventstore/log/eventstoredb.',
  'eventstore/log/eventstoredb/filtered-read',
  'eventstore/log/eventstoredb/late',
  'eventstore/log/eventstoredb/neighbours',
  'eventstore/postgres/leader',
  'fault/',
  'projections/search/merge',
  'projections/usage',
  'server/attribution/question',
  'server/erasure/',
  'server/export/hostile-pages',
  'server/export/routes',
  'server/history/copied-log',
  'server/history/erase',
  'server/history/move-trace',
  'server/history/past-work',
  'server/history/past.',
  'server/history/timeline.',
  'server/http/client-package',
  'server/http/hostile',
  'server/http/intake',
  'server/http/large-answers',
  'server/http/list-page',
  'server/http/long-lists',
  'server/mcp/bounds',
  'server/models/fill',
  'server/namespace/quotas',
  'server/proof/evidence-file',
  'server/proof/message-proofs',
  'server/proof/other-logs',
  'server/proof/process',
  'server/proof/verify/tampering',
  'server/realtime/hostile',
  'server/realtime/many',
  'server/realtime/unread',
  'server/retention/process',
  'server/search/backlog',
  'server/service/node',
  'server/session/join',
  'server/session/sign-in',
  'server/session/sign-up',
  'server/signin/invite.',
  'server/summary/process.',
  'server/trace/cut-off',
  'server/trace/list-plans',
  'server/trace/locate',
  'server/trace/long-lists',
  'server/trace/messages/large',
  'server/user/identities',
  'transcript/steps',
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
    .filter((file) =>
      filters.length === 0 ? !file.startsWith(ONLY_NAMED) : filters.some((filter) => file.includes(filter)),
    )
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
