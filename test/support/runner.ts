import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import { type Result, runFiles } from './run-files.ts'
import type { Job, LogKind } from './jobs.ts'

/** With `TEST_AGAIN=1` a file that has failed gets another try when no other one runs: machines are busy. */
const AGAIN = process.env.TEST_AGAIN === '1'

/** After so long no test is begun any more that may be left out. */
const TIME_MS = Number(process.env.TEST_TIME_SECONDS ?? Number.POSITIVE_INFINITY) * 1_000

const CORES = availableParallelism()

/**
 * How many processes run at once. Most files wait half of their time, for a database or a timer; more than six could want
 * more connections than the server has. What starts processes itself takes all cores that it gets.
 */
const QUICK_AT_ONCE = Math.min(CORES + 2, 6)
const OTHERS_AT_ONCE = CORES

export type RunnerOptions = {
  readonly root: string
  /** Exists; each process gets a folder in it. */
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  /** Whether what a file prints is shown at once, each line with where it comes from. */
  readonly live: boolean
  readonly signal: AbortSignal
}

/** The server for a file's logs, when they are not in Postgres: a double, or the one of `TEST_EVENTSTORE_URL`. */
const openLogServer = async (log: LogKind) => {
  if (log === 'Postgres') return { url: '', stop: async () => {} }
  const { TEST_EVENTSTORE_URL: given } = process.env
  return given ? { url: given, stop: async () => {} } : (await import('./eventstoredb/server.ts')).startDouble()
}

const print = ({ name }: Job, { passed, failed, problem, output, ms }: Result) => {
  if (problem) console.log(`\nFAIL ${name}: ${problem}\n${output}`)
  else if (passed + failed > 0) console.log(`pass ${name} (${passed}, ${(ms / 1000).toFixed(1)} s)`)
}

const showing = ({ name }: Job) => ({
  show: (text: string) => {
    for (const line of text.split('\n')) if (line.trim() !== '') console.log(`${basename(name)}: ${line}`)
  },
})

let count = 0

const runJob = async (job: Job, { root, folder, env, live, signal }: RunnerOptions): Promise<Result> => {
  const { url, stop } = await openLogServer(job.log)
  const own = join(folder, `${count++}`)
  const result = await runFiles(job.files, {
    root,
    folder: own,
    env: { ...env, TEST_LOG_URL: url },
    signal,
    ...(live ? showing(job) : {}),
  })
  await stop()
  if (!signal.aborted) print(job, result)
  return result
}

const leftOut: Result = { passed: 0, failed: 0, skipped: 1, output: '', ms: 0 }

type Results = Map<Job, Result>

/** Runs jobs in their order, so many at once. */
const runSome = async (jobs: readonly Job[], atOnce: number, options: RunnerOptions, results: Results) => {
  const left = jobs.values()
  const work = async () => {
    for (const job of left) {
      if (options.signal.aborted) return
      const hasTime = job.rank < 2 || performance.now() < TIME_MS
      if (!hasTime) console.log(`SKIP ${job.name}: no time left`)
      results.set(job, hasTime ? await runJob(job, options) : leftOut)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
}

const sum = (results: readonly Result[]): boolean => {
  const total = (key: 'passed' | 'failed' | 'skipped') => results.reduce((sum, result) => sum + result[key], 0)
  const skipped = total('skipped') > 0 ? `, ${total('skipped')} skipped` : ''
  console.log(`\n${total('passed')} passed, ${total('failed')} failed${skipped}`)
  return total('failed') === 0 && (total('passed') > 0 || results.includes(leftOut))
}

/** Runs jobs and prints what became of them; whether there were tests, and none failed. */
export const run = async (jobs: readonly Job[], options: RunnerOptions): Promise<boolean> => {
  const results: Results = new Map()
  const [quick, others] = [jobs.filter(({ rank }) => rank === 0), jobs.filter(({ rank }) => rank > 0)]
  await runSome(quick, QUICK_AT_ONCE, options, results)
  await runSome(others, OTHERS_AT_ONCE, options, results)
  for (const [job, { problem }] of AGAIN ? [...results] : []) {
    if (!problem || options.signal.aborted) continue
    console.log(`AGAIN ${job.name}: it has failed beside others, now it runs alone`)
    results.set(job, await runJob(job, options))
  }
  return sum([...results.values()])
}
