import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { startDouble } from './eventstoredb/server.ts'
import { type Result, runFile } from './files.ts'
import { type Job, type LogKind, jobsOf } from './jobs.ts'
import { type TestServer, startServer } from './server.ts'

const root = join(import.meta.dirname, '..', '..')

/** With `TEST_AGAIN=1` a file that has failed gets another try when no other one runs: machines are busy. */
const AGAIN = process.env.TEST_AGAIN === '1'

/** After so long no test is begun any more that may be left out. */
const TIME_MS = Number(process.env.TEST_TIME_SECONDS ?? Number.POSITIVE_INFINITY) * 1_000

const nameOf = ({ file, log }: Job) => (log === 'Postgres' ? file : `${file} on ${log}`)

const print = (job: Job, { passed, problem, output, ms }: Result) => {
  const name = nameOf(job)
  if (problem) console.log(`\nFAIL ${name}: ${problem}\n${output}`)
  else console.log(`pass ${name} (${passed}, ${(ms / 1000).toFixed(1)} s)`)
}

/** The server for a file's logs, when they are not in Postgres: a double, or the one of `TEST_EVENTSTORE_URL`. */
const openLogServer = async (log: LogKind) => {
  if (log === 'Postgres') return { url: '', stop: async () => {} }
  const { TEST_EVENTSTORE_URL: given } = process.env
  return given ? { url: given, stop: async () => {} } : startDouble()
}

/** With `--live` what a file prints is shown at once, and each line says where it comes from. */
const showing = ({ file, log }: Job) => {
  if (!values.live) return {}
  const show = (text: string) => {
    for (const line of text.split('\n')) if (line.trim() !== '') console.log(`${basename(file)} on ${log}: ${line}`)
  }
  return { show }
}

/** A folder for all processes of the run, whoever they run as. */
const sharedFolder = async (path: string) => {
  await mkdir(path)
  await chmod(path, 0o777)
  return path
}

const runAll = async (jobs: Job[], server: TestServer, folder: string, signal: AbortSignal): Promise<Result[]> => {
  const results = new Map<Job, Result>()
  const compiled = await sharedFolder(join(folder, 'compiled'))
  let count = 0
  const runJob = async (job: Job) => {
    const { url, stop } = await openLogServer(job.log)
    const env = { ...server.env, TEST_LOG_URL: url, NODE_COMPILE_CACHE: compiled }
    const own = join(folder, `${count++}`)
    const result = await runFile(job.file, { root, folder: own, env, signal, ...showing(job) })
    await stop()
    if (!signal.aborted) print(job, result)
    results.set(job, result)
  }
  const left = jobs.values()
  const work = async () => {
    for (const job of left) {
      if (signal.aborted) return
      if (job.rank === 0 || performance.now() < TIME_MS) await runJob(job)
      else {
        console.log(`SKIP ${nameOf(job)}: no time left`)
        results.set(job, { file: job.file, passed: 0, failed: 0, skipped: 1, output: '', ms: 0 })
      }
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  for (const [job, { problem }] of AGAIN ? [...results] : []) {
    if (!problem || signal.aborted) continue
    console.log(`AGAIN ${nameOf(job)}: it has failed beside others, now it runs alone`)
    await runJob(job)
  }
  return [...results.values()]
}

const sum = (results: Result[]) => {
  const total = (key: 'passed' | 'failed' | 'skipped') => results.reduce((sum, result) => sum + result[key], 0)
  const skipped = total('skipped') > 0 ? `, ${total('skipped')} skipped` : ''
  console.log(`\n${total('passed')} passed, ${total('failed')} failed${skipped}`)
  return results.length > 0 && total('failed') === 0
}

/** Runs what is asked for; gives the exit code. */
const main = async (jobs: Job[], signal: AbortSignal): Promise<number> => {
  if (jobs.length === 0) console.log('no test file matches')
  const folder = await mkdtemp(join(tmpdir(), 'tracebook-test-'))
  let server: TestServer | undefined
  try {
    await chmod(folder, 0o711) // an embedded Postgres may run as somebody else, who has to get in
    server = await startServer(folder, signal)
    return sum(await runAll(jobs, server, folder, signal)) ? 0 : 1
  } finally {
    await server?.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

const stopping = new AbortController()
let code: number | undefined
for (const [name, number] of Object.entries({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 })) {
  process.once(name, () => {
    code = number
    stopping.abort()
  })
}
const options = { log: { type: 'string' }, live: { type: 'boolean' } } as const
const { values, positionals } = parseArgs({ options, allowPositionals: true })
const choices = { postgres: 'Postgres', eventstore: 'EventStoreDB', both: 'both' } as const
const kind = choices[values.log as keyof typeof choices]
if (values.log && !kind) throw new Error('--log is postgres, eventstore or both')
const result = await main(jobsOf(root, positionals, kind), stopping.signal).catch((error) => {
  if (code === undefined) console.error(error)
  return 1
})
process.exitCode = code ?? result
