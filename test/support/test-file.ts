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
  /** 0 is what `npm test` runs. The others may be left out for lack of time, those of the highest rank first. */
  readonly rank: 0 | 1 | 2
}

/** By these a file reaches what is outside of its own values. */
const IMPURE = [
  '@eventstore/db-client',
  '@grpc/grpc-js',
  'fastify',
  'node:child_process',
  'node:http',
  'node:v8', // the memory that it looks at has to be the file's own
  'pg',
  'recheck', // starts a process
  'tinypool',
]

/** In one process, but of the same kind as those that start some: they cut off and freeze, again and again. */
const HEAVY =
  /^test\/(?:fault\/|engine\/(?:lost-tail|same-log|quarantine|groups)|summary\/process|postgres\/leader|log\/(?:copy|eventstoredb\.|eventstoredb\/(?:chaos|late|neighbours|sweep)|postgres\/chaos))/

/** Tests that play the same many times over, to meet what happens seldom. */
const SOAK =
  /^test\/(?:fault\/(?:history|disk|erasure)|summary\/failures|[a-z]+\/lost-(?:updates|names|roles)|namespace\/taken)/

/** Those that take longest begin first, so that none of them ends alone. */
const LONG =
  /^test\/(?:access|connections|erasure|engine\/(?:nodes|re|runner|progress|unused)|http\/(?:hostile|page-bytes|intake|stream)|log\/postgres\.|trace\/(?:cut-off|locate|long-lists)|user\/identities)/

const rankOf = (file: string, reached: ReadonlySet<string>) => {
  if (SOAK.test(file)) return 2
  return HEAVY.test(file) || reached.has('node:child_process') ? 1 : 0
}

/** The test files whose paths contain one of the filters, or all, in the order in which they are best begun. */
export const testFiles = (root: string, filters: readonly string[]): TestFile[] => {
  const reach = newReach(root)
  return globSync('test/**/*.test.ts', { cwd: root })
    .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
    .sort((a, b) => Number(LONG.test(b)) - Number(LONG.test(a)) || a.localeCompare(b))
    .map((file) => {
      const reached = reach(file)
      return {
        file,
        isPure: !IMPURE.some((name) => reached.has(name)),
        needsDatabase: reached.has('test/support/database.ts'),
        touchesLog: reached.has('test/support/log-place.ts'),
        rank: rankOf(file, reached),
      }
    })
}
