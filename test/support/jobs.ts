import { type TestFile, testFiles } from './test-file.ts'

export type LogKind = 'Postgres' | 'EventStoreDB'
export type LogChoice = LogKind | 'both'

/** A test file to run. */
export type Job = Pick<TestFile, 'file' | 'isQuick' | 'needsDatabase' | 'isAlone'> & {
  readonly name: string
  /** Where the file has its logs. */
  readonly log: LogKind
}

/** `quick` is what `npm test` runs, `rest` all else, and `pure` what needs nothing but the processor. */
export type Part = 'pure' | 'quick' | 'rest' | 'all'

export type Choice = {
  /** Files whose paths contain one of these, whichever part they are of. */
  readonly filters: readonly string[]
  readonly part: Part
  /** Whether only files run that `--times` makes repeat more. */
  readonly repeated?: boolean
  /** Whatever stands on a log, with its logs there. */
  readonly log?: LogChoice | undefined
  /** The k-th of n shares, which together are all of it. */
  readonly shard?: Shard | undefined
}

export type Shard = { readonly k: number; readonly n: number }

/** What runs over both logs, beside the contract suite of the port: reads, a rebuild, erasures, and two nodes. `--log eventstore` runs all. */
const OVER_BOTH = [
  'test/engine/nodes.test.ts',
  'test/engine/quarantine.test.ts',
  'test/engine/rebuild.test.ts',
  'test/erasure/process.test.ts',
  'test/history/erase.test.ts',
  'test/session/routes.test.ts',
]

/**
 * Those that lose the end of a log with the database that it lies in, or truncate it in steps. And on a full disk a log in PostgreSQL takes nothing:
 * one elsewhere goes on, and is answered with 503 `stored: true` while the read models stand still; reads are old then,
 * which these histories do not expect.
 */
const POSTGRES_ONLY = [
  'test/engine/lost-tail.test.ts',
  'test/engine/lost-tail-overtaken.test.ts',
  'test/erasure/cut-off.test.ts',
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

/** Each with a server for its log, which it may stop. */
const onEventStore = (file: TestFile): Job => ({
  ...onPostgres(file),
  name: `${file.file} on EventStoreDB`,
  log: 'EventStoreDB',
  isAlone: true,
})

const allOnEventStore = (files: readonly TestFile[]): Job[] =>
  files
    .filter(({ file, touchesLog }) => touchesLog || file.startsWith('test/log/eventstoredb'))
    .filter(({ file }) => !POSTGRES_ONLY.includes(file))
    .map(onEventStore)

/** Those last that take least, so that no process ends long after the others. */
const byOrder = (a: Job, b: Job) =>
  Number(a.isQuick) - Number(b.isQuick) || Number(b.needsDatabase) - Number(a.needsDatabase)

/** Reads `2/3`. */
export const readShard = (text: string): Shard => {
  const [, k = 0, n = 0] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number)
  if (k < 1 || k > n) throw new Error(`--shard is K/N, with K from 1 to N, for instance 2/3; it came as ${text}`)
  return { k, n }
}

/** The jobs of a choice, in the order in which they are to begin. */
export const jobsOf = (root: string, { shard = { k: 1, n: 1 }, ...choice }: Choice): Job[] =>
  chosen(root, choice).filter((_job, index) => index % shard.n === shard.k - 1)

const chosen = (root: string, { filters, part, repeated = false, log }: Choice): Job[] => {
  const files = testFiles(root, filters).filter(({ repeats }) => repeats || !repeated)
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
