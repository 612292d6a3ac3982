import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export type LogKind = 'Postgres' | 'EventStoreDB'
export type LogChoice = LogKind | 'both'

/**
 * A test file, and where it has its logs. Those of rank 0 come first and always; the others may be left out for lack of
 * time, those of the highest rank first.
 */
export type Job = { readonly file: string; readonly log: LogKind; readonly rank: 0 | 1 | 2 }

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

/** Tests that kill, freeze and cut off real processes, again and again: half of the time of all. */
const HEAVY =
  /^test\/(?:fault\/|embedded\/(?:crash|stop|postgres|account)|engine\/(?:lost-tail|reads-crash|same-log|quarantine|rebuild-leftovers|groups)|commands\/(?:log\/(?:quarantine|copy-embedded)|kill|sync)|erasure\/frozen|summary\/(?:frozen|fold|process)|postgres\/leader|log\/(?:copied|copy|eventstoredb\.test|eventstoredb\/(?:chaos|sweep|neighbours|late)|postgres\/chaos)|sync\/agents)/

/** Tests that play the same many times over, to meet what happens seldom. */
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
    files.filter(wanted).map((file): Job => ({ file, log: kind, rank: SOAK.test(file) ? 2 : HEAVY.test(file) ? 1 : 0 }))
  if (log === 'Postgres') return jobs(log, () => true)
  const touchesLog = newTouchesLog(root)
  const isForEventStore = (file: string) => touchesLog(file) && !POSTGRES_ONLY.includes(file)
  if (log) return jobs(log, (file) => isForEventStore(file) || file.startsWith('test/log/eventstoredb'))
  const again = jobs('EventStoreDB', (file) => OVER_BOTH.includes(file)).map((job): Job => ({ ...job, rank: 2 }))
  return [...jobs('Postgres', () => true), ...again].sort((a, b) => a.rank - b.rank)
}
