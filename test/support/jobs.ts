import { type TestFile, testFiles } from './test-file.ts'

export type LogKind = 'Postgres' | 'EventStoreDB'
export type LogChoice = LogKind | 'both'

/** What one process runs: a test file, several that can do with one process, or all that are pure. */
export type Job = Pick<TestFile, 'rank' | 'needsDatabase'> & {
  readonly name: string
  readonly files: readonly string[]
  /** Where the files have their logs. */
  readonly log: LogKind
}

/** `quick` is what `npm test` runs, `rest` what `npm run test:all` runs besides. */
export type Part = 'pure' | 'quick' | 'rest' | 'all'

export type Choice = {
  /** Files whose paths contain one of these, whichever part they are of. */
  readonly filters: readonly string[]
  readonly part: Part
  /** Whatever stands on a log, with its logs there. */
  readonly log?: LogChoice | undefined
}

/** What runs over both logs: each kind of write, of read, of process, and two nodes. */
const OVER_BOTH = [
  'test/access/races.test.ts',
  'test/engine/nodes.test.ts',
  'test/engine/quarantine.test.ts',
  'test/engine/rebuild.test.ts',
  'test/erasure/process.test.ts',
  'test/models/routes.test.ts',
  'test/namespace/routes.test.ts',
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

const onPostgres = ({ file, rank, needsDatabase }: TestFile): Job => ({
  name: file,
  files: [file],
  log: 'Postgres',
  rank,
  needsDatabase,
})

const onEventStore = ({ file, rank, needsDatabase }: TestFile): Job => ({
  name: `${file} on EventStoreDB`,
  files: [file],
  log: 'EventStoreDB',
  rank,
  needsDatabase,
})

/** One process is enough for all that touch nothing but their own values. */
const batch = (files: readonly TestFile[]): Job[] => {
  if (files.length < 2) return files.map(onPostgres)
  const name = `${files.length} pure test files`
  return [{ name, files: files.map(({ file }) => file), log: 'Postgres', rank: 0, needsDatabase: false }]
}

const allOnPostgres = (files: readonly TestFile[]): Job[] => [
  ...batch(files.filter(({ isPure }) => isPure)),
  ...files.filter(({ isPure }) => !isPure).map(onPostgres),
]

/** So many short files share a process: to load the service takes longer than most of them, and more would end too late. */
const SHORT_FILES = 8

/** One process for a few files of those that are short. */
const share = (files: readonly TestFile[]): Job[] =>
  Array.from({ length: Math.ceil(files.length / SHORT_FILES) }, (_, at) => {
    const some = files.slice(at * SHORT_FILES, (at + 1) * SHORT_FILES)
    const [first, last] = [some[0]!.file, some.at(-1)!.file]
    return {
      name: some.length === 1 ? first : `${some.length} test files from ${first} to ${last}`,
      files: some.map(({ file }) => file),
      log: 'Postgres',
      rank: 0,
      needsDatabase: some.some(({ needsDatabase }) => needsDatabase),
    }
  })

/** In as few processes as are useful; those of the long files first, so that none of them ends alone. */
const inFewProcesses = (files: readonly TestFile[]): Job[] => [
  ...allOnPostgres(files.filter(({ isPure, isShort }) => isPure || !isShort)),
  ...share(files.filter(({ isPure, isShort }) => !isPure && isShort)),
]

const allOnEventStore = (files: readonly TestFile[]): Job[] =>
  files
    .filter(({ file, touchesLog }) => touchesLog || file.startsWith('test/log/eventstoredb'))
    .filter(({ file }) => !POSTGRES_ONLY.includes(file))
    .map(onEventStore)

const isOf: Readonly<Record<Part, (job: Job) => boolean>> = {
  pure: () => true,
  quick: ({ rank }) => rank === 0,
  rest: ({ rank }) => rank > 0,
  all: () => true,
}

/** The jobs of a choice, in the order in which they are to begin: those of rank 0 first. */
export const jobsOf = (root: string, { filters, part, log }: Choice): Job[] => {
  const files = testFiles(root, filters)
  if (log === 'Postgres') return allOnPostgres(files)
  if (log === 'EventStoreDB') return allOnEventStore(files)
  if (log === 'both') return [...allOnPostgres(files), ...allOnEventStore(files)]
  if (part === 'pure') return batch(files.filter(({ isPure }) => isPure))
  if (filters.length > 0) return allOnPostgres(files)
  const again = files
    .filter(({ file }) => OVER_BOTH.includes(file))
    .map((file): Job => ({ ...onEventStore(file), rank: 3 }))
  return [...inFewProcesses(files), ...again].filter(isOf[part]).sort((a, b) => a.rank - b.rank)
}
