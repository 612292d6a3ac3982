import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export type LogKind = 'Postgres' | 'EventStoreDB'
export type LogChoice = LogKind | 'both'

/** A test file, and where it has its logs. */
export type Job = { readonly file: string; readonly log: LogKind; readonly isSoak: boolean }

/** What `npm test` runs over both logs: each kind of write, of read, of process, and two nodes. */
const OVER_BOTH = [
  'test/access/races.test.ts',
  'test/engine/nodes.test.ts',
  'test/engine/rebuild.test.ts',
  'test/erasure/process.test.ts',
  'test/models/routes.test.ts',
  'test/namespace/routes.test.ts',
  'test/session/routes.test.ts',
]

/** Tests that play the same again and again, to meet what happens seldom: they come last, and may be left out for lack of time. */
const SOAK =
  /^test\/(?:fault\/(?:history|disk|erasure)|summary\/failures|[a-z]+\/lost-(?:updates|names|roles)|namespace\/taken)/

/**
 * On a full disk a log in PostgreSQL takes nothing. One elsewhere goes on, and is answered with 503 `stored: true` while
 * the read models stand still: reads are old then, which these histories do not expect.
 */
const POSTGRES_ONLY = ['test/fault/disk.test.ts']

/** The test's own modules that a module stands on. */
const importsOf = (root: string, file: string): string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/from '(\.[^']+)'/g)]
    .map(([, path]) => join(file, '..', path!))
    .filter((path) => path.startsWith('test/'))

/** Files that open a log, or a service, wherever the run has its logs: they stand on `log-place.ts`. */
const newTouchesLog = (root: string) => {
  const known = new Map([['test/support/log-place.ts', true]])
  const touchesLog = (file: string): boolean => {
    const found = known.get(file)
    if (found !== undefined) return found
    known.set(file, false) // for circles
    const touches = importsOf(root, file).some(touchesLog)
    known.set(file, touches)
    return touches
  }
  return touchesLog
}

/**
 * The files whose paths contain one of the filters. Without a kind: all of them with logs in Postgres, some in EventStoreDB
 * too. With EventStoreDB: whatever goes through a service, and the tests of the adapter. With both: each kind's.
 */
export const jobsOf = (root: string, filters: readonly string[], log?: LogChoice): Job[] => {
  if (log === 'both') return [...jobsOf(root, filters, 'Postgres'), ...jobsOf(root, filters, 'EventStoreDB')]
  const files = globSync('test/**/*.test.ts', { cwd: root })
    .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
    .sort()
  const jobs = (kind: LogKind, wanted: (file: string) => boolean) =>
    files.filter(wanted).map((file) => ({ file, log: kind, isSoak: SOAK.test(file) }))
  if (log === 'Postgres') return jobs(log, () => true)
  const touchesLog = newTouchesLog(root)
  const isForEventStore = (file: string) => touchesLog(file) && !POSTGRES_ONLY.includes(file)
  if (log) return jobs(log, (file) => isForEventStore(file) || file.startsWith('test/log/eventstoredb'))
  const again = jobs('EventStoreDB', (file) => OVER_BOTH.includes(file)).map((job) => ({ ...job, isSoak: true }))
  const all = [...jobs('Postgres', () => true), ...again]
  return [...all.filter(({ isSoak }) => !isSoak), ...all.filter(({ isSoak }) => isSoak)]
}
