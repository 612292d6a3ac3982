import { type TestFile, testFiles } from './test-file.ts'

export type LogKind = 'Postgres' | 'EventStoreDB'
export type LogChoice = LogKind | 'both'

/** A test file to run. */
export type Job = Pick<TestFile, 'file' | 'isQuick' | 'needsDatabase' | 'isAlone'> & {
  readonly name: string
  /** The store in which the file has its logs. */
  readonly log: LogKind
}

/** `quick`: the files that `npm test` runs; `rest`: all others; `pure`: those that need only the processor. */
export type Part = 'pure' | 'quick' | 'rest' | 'all'

export type Choice = {
  /** Only files whose paths contain one of these, from all parts. */
  readonly filters: readonly string[]
  /** Whether of these only files run that `npm test` runs. */
  readonly quick?: boolean
  readonly part: Part
  /** Whether only files run that `--times` makes repeat more. */
  readonly repeated?: boolean
  /** Only files that open a log, with their logs in this store. */
  readonly log?: LogChoice | undefined
  /** Only the k-th of n shares; together the shares have all files. */
  readonly shard?: Shard | undefined
}

export type Shard = { readonly k: number; readonly n: number }

/** The files that a usual run runs with both stores, besides the contract suite of the port: reads, a rebuild, erasures, and two nodes. `--log eventstore` runs all. */
const OVER_BOTH = [
  'test/eventstore/engine/nodes.test.ts',
  'test/eventstore/engine/quarantine.test.ts',
  'test/eventstore/engine/rebuild.test.ts',
  'test/server/erasure/process.test.ts',
  'test/server/history/erase.test.ts',
  'test/server/session/routes.test.ts',
  'test/server/trace/if-revision.test.ts',
]

/**
 * Files that run only with logs in PostgreSQL. Some lose the end of a log by losing its database, or truncate it in steps. Others fill the
 * disk: then PostgreSQL accepts no appends, but a log elsewhere does, and answers 503 with `stored: true` while the read models do not
 * change, which these histories do not expect.
 */
const POSTGRES_ONLY = [
  'test/eventstore/engine/lost-tail.test.ts',
  'test/server/erasure/cut-off.test.ts',
  'test/fault/disk.test.ts',
]

const onPostgres = ({ file, isQuick, needsDatabase, isAlone }: TestFile): Job => ({
  name: file,
  file,
  log: 'Postgres',
  isQuick,
  needsDatabase,
  isAlone,
})

/** Each has its own server for the log, which it may stop. */
const onEventStore = (file: TestFile): Job => ({
  ...onPostgres(file),
  name: `${file.file} on EventStoreDB`,
  log: 'EventStoreDB',
  isAlone: true,
})

const allOnEventStore = (files: readonly TestFile[]): Job[] =>
  files
    .filter(({ file, touchesLog }) => touchesLog || file.startsWith('test/eventstore/log/eventstoredb'))
    .filter(({ file }) => !POSTGRES_ONLY.includes(file))
    .map(onEventStore)

/** Files that take a minute or more. */
const LONGEST = [
  'test/connections.test.ts',
  'test/eventstore/log/eventstoredb.test.ts',
  'test/server/export/routes.test.ts',
  'test/server/history/erase.test.ts',
  'test/server/realtime/hostile.test.ts',
  'test/server/trace/cut-off.test.ts',
  'test/server/trace/long-lists.test.ts',
]

/** Sorts the jobs that take least time to the end, so that no process ends long after the others. */
const byOrder = (a: Job, b: Job) =>
  Number(a.isQuick) - Number(b.isQuick) ||
  Number(b.isAlone) - Number(a.isAlone) ||
  Number(LONGEST.includes(b.file)) - Number(LONGEST.includes(a.file)) ||
  Number(b.needsDatabase) - Number(a.needsDatabase)

/** Reads `2/3`. */
export const readShard = (text: string): Shard => {
  const [, k = 0, n = 0] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number)
  if (k < 1 || k > n) throw new Error(`--shard is K/N, with K from 1 to N, for instance 2/3; it came as ${text}`)
  return { k, n }
}

/** The jobs of a choice, in the order in which they start. */
export const jobsOf = (root: string, { shard = { k: 1, n: 1 }, ...choice }: Choice): Job[] =>
  chosen(root, choice).filter((_job, index) => index % shard.n === shard.k - 1)

const chosen = (root: string, { filters, part, quick = false, repeated = false, log }: Choice): Job[] => {
  const files = testFiles(root, filters).filter(({ repeats, isQuick }) => (repeats || !repeated) && (isQuick || !quick))
  if (log === 'Postgres') return files.map(onPostgres)
  if (log === 'EventStoreDB') return allOnEventStore(files)
  if (log === 'both') return [...files.map(onPostgres), ...allOnEventStore(files)]
  if (filters.length > 0) return files.map(onPostgres)
  if (part === 'pure') return files.filter(({ isPure }) => isPure).map(onPostgres)
  const again = files
    .filter(({ file }) => OVER_BOTH.includes(file))
    .map((file): Job => ({ ...onEventStore(file), isQuick: false }))
  const all = [...files.map(onPostgres), ...again].sort(byOrder)
  return part === 'all' ? all : all.filter(({ isQuick }) => isQuick === (part === 'quick'))
}
