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
  /** 0 is what `npm test` runs, 1 starts processes. From 2 on it may be left out for lack of time, the highest first. */
  readonly rank: 0 | 1 | 2 | 3
}

/** By these a file starts processes: those of `recheck` search the paths of a regular expression. */
const PROCESSES = ['node:child_process', 'recheck']

/** By these a file reaches what is outside of its own values. */
const IMPURE = [
  ...PROCESSES,
  '@eventstore/db-client',
  '@grpc/grpc-js',
  'fastify',
  'node:http',
  'node:v8', // the memory that it looks at has to be the file's own
  'pg',
  'tinypool',
]

/** Tests that kill, freeze and cut off, again and again, or handle very much at once: half of the time of all. */
const HEAVY =
  /^test\/(?:fault\/|embedded\/(?:crash|stop|postgres|account)|engine\/(?:lost-tail|reads-crash|same-log|quarantine|rebuild-leftovers|open-groups)|commands\/(?:log\/(?:quarantine|copy-embedded)|kill|sync)|erasure\/frozen|summary\/(?:catch-up|frozen|process\.)|postgres\/leader|realtime\/(?:many|unread)|log\/(?:copied|copy|eventstoredb\.test|eventstoredb\/(?:chaos|filtered-read|neighbours|late|processes)|postgres\/chaos)|sync\/agents\/.*-huge)/

/** Tests that play the same many times over, to meet what happens seldom. */
const SOAK =
  /^test\/(?:fault\/(?:history|disk|erasure)|summary\/failures|[a-z]+\/lost-(?:updates|names|roles)|namespace\/taken)/

/** Those that take longest begin first, so that none of them ends alone. */
const LONG =
  /^test\/(?:connections|engine\/(?:progress|re|runner|weights)|erasure|http\/(?:hostile|intake|page-bytes|stream)|log\/(?:eventstoredb\/follows|postgres\.)|trace\/(?:cut-off|locate|long-lists))/

const rankOf = (file: string, reached: ReadonlySet<string>) => {
  if (SOAK.test(file)) return 3
  if (HEAVY.test(file)) return 2
  return PROCESSES.some((name) => reached.has(name)) ? 1 : 0
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
