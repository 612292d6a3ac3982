import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { newReach } from './imports.ts'
import { type Choice, type Job, type Part, jobsOf, readShard } from './jobs.ts'
import { run } from './runner.ts'
import type { TestServer } from './database-server.ts'
import { watchFolders } from './watch-folders.ts'

const root = join(import.meta.dirname, '..', '..')
const TEMPLATE = 'test/support/template.ts'
const FOLDERS = ['src', 'projections', 'migrations', 'test']

/** The environment of all processes of the run: a name for what they create on servers, and the folder of compiled code, kept for the next run. */
const common = {
  TEST_RUN: `test_${process.pid}_${Date.now().toString(36)}`,
  NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled-tests'),
}

/** The database server of the run, which is started once jobs need it. */
const newDatabases = (signal: AbortSignal) => {
  let server: TestServer | undefined
  const envFor = async (jobs: readonly Job[]) => {
    if (!server && jobs.some(({ needsDatabase }) => needsDatabase)) {
      const { startServer } = await import('./database-server.ts')
      server = await startServer({ run: common.TEST_RUN, env: common, signal })
    }
    return { ...common, ...server?.env }
  }
  /** Creates the template again if one of its source files has changed. */
  const heed = async (changed: readonly string[]) => {
    const made = newReach(root)(TEMPLATE)
    if (changed.some((path) => made.has(path) || path.startsWith('migrations/'))) await server?.renew()
  }
  const connections = () => server?.connections ?? Infinity
  return { envFor, heed, pid: () => server?.pid(), connections, stop: async () => server?.stop() }
}

/** Runs the chosen files, with `watch` again after each change. Returns the exit code. */
const main = async (
  choice: Choice,
  { live, watch, costs }: { live: boolean; watch: boolean; costs: boolean },
  signal: AbortSignal,
) => {
  const folder = await mkdtemp(join(tmpdir(), 'tracebook-test-'))
  const databases = newDatabases(signal)
  const changes = watch ? watchFolders(root, FOLDERS, signal) : undefined
  const once = async () => {
    const jobs = jobsOf(root, choice)
    if (jobs.length === 0) console.log('no test file matches')
    return run(jobs, {
      root,
      folder,
      env: { ...(await databases.envFor(jobs)), TEST_FOLDER: folder },
      live,
      costs,
      server: databases.pid,
      connections: databases.connections(),
      signal,
    })
  }
  try {
    await chmod(folder, 0o711) // an embedded Postgres may run as another user, who needs access
    let passed = await once()
    while (changes && !signal.aborted) {
      console.log('waiting for a change')
      await databases.heed(await changes.next())
      if (!signal.aborted) passed = await once()
    }
    return passed ? 0 : 1
  } finally {
    await databases.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

const options = {
  all: { type: 'boolean' },
  rest: { type: 'boolean' },
  quick: { type: 'boolean', default: false },
  pure: { type: 'boolean' },
  log: { type: 'string' },
  shard: { type: 'string' },
  name: { type: 'string' },
  times: { type: 'string' },
  live: { type: 'boolean', default: false },
  watch: { type: 'boolean', default: false },
  costs: { type: 'boolean', default: false },
} as const
const { values, positionals: filters } = parseArgs({ options, allowPositionals: true })

const logs = { postgres: 'Postgres', eventstore: 'EventStoreDB', both: 'both' } as const
const log = logs[values.log as keyof typeof logs]
if (values.log && !log) throw new Error('--log is postgres, eventstore or both')
const repeated = values.times !== undefined
if (repeated && !/^[1-9]\d*$/.test(values.times!))
  throw new Error(`--times is a number from 1 on; it came as ${values.times}`)
const part: Part = (['all', 'rest', 'pure'] as const).find((name) => values[name]) ?? (repeated ? 'all' : 'quick')
if (values.name) process.env.TEST_NAME = values.name
if (repeated) process.env.TEST_TIMES = values.times

const stopping = new AbortController()
let code: number | undefined
for (const [name, number] of Object.entries({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 })) {
  process.once(name, () => {
    code = number
    stopping.abort()
  })
}
const shard = values.shard === undefined ? undefined : readShard(values.shard)
const result = await main({ filters, part, quick: values.quick, repeated, log, shard }, values, stopping.signal).catch(
  (error) => {
    if (code === undefined) console.error(error)
    return 1
  },
)
process.exitCode = code ?? result
