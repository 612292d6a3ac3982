import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import { type Result, type TestProcess, startTestProcess } from './test-process.ts'
import type { Job, LogKind } from './jobs.ts'
import { processorSeconds } from './processor-time.ts'

/** With `TEST_AGAIN=1` a failed file is run again at the end, when no other file makes the machine busy. */
const AGAIN = process.env.TEST_AGAIN === '1'

const CORES = availableParallelism()

/**
 * How many processes run at once. Most files wait half of their time, for a database or a timer. Of files that start processes one per core runs,
 * because these take all that they get.
 */
const AT_ONCE = CORES + 2
const ALONE_AT_ONCE = CORES
/**
 * How many files a process runs. What they have opened stays in its memory, 3 MB a service: after 100 services a garbage collection takes
 * so long that files take twice the time, while a new process takes one second.
 */
const FILES_OF_PROCESS = 40
/** How many connections to the database server a file takes: it opens one node or two, whose pools are seldom full. */
const CONNECTIONS_OF_FILE = 48

export type RunnerOptions = {
  readonly root: string
  /** An existing folder, in which each process gets a folder. */
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  /** Whether the output of a file is shown at once, each line with the name of the file. */
  readonly live: boolean
  /**
   * Whether files run one after another, and the time of each is printed at the end: processor time, of itself and of the database
   * server, and elapsed time, in seconds.
   */
  readonly costs: boolean
  /** The process id of the database server, if this run has started it. */
  readonly server: () => number | undefined
  /** How many connections the database server takes. */
  readonly connections: number
  readonly signal: AbortSignal
}

/** The server for the logs of a file if they are not in Postgres: a double, or that of `TEST_EVENTSTORE_URL`. */
const openLogServer = async (log: LogKind) => {
  if (log === 'Postgres') return { url: '', stop: async () => {} }
  const { TEST_EVENTSTORE_URL: given } = process.env
  return given ? { url: given, stop: async () => {} } : (await import('./eventstoredb/server.ts')).startDouble()
}

/** The seconds that a file took: processor time, of itself and of the database server, and elapsed time. */
type Cost = { readonly own: number; readonly server: number; readonly clock: number }

type Outcome = Result & { readonly cost?: Cost }
type Results = Map<Job, Outcome>

const costText = ({ own, server, clock }: Cost) =>
  [own, server, clock].map((seconds) => seconds.toFixed(2).padStart(7)).join(' ')

const print = ({ name }: Job, { passed, failed, problem, output, ms, cost }: Outcome) => {
  if (cost) console.log(`${costText(cost)}  ${name}`)
  if (problem) console.log(`\nFAIL ${name}: ${problem}\n${output}`)
  else if (passed + failed > 0) console.log(`pass ${name} (${passed}, ${(ms / 1000).toFixed(1)} s)`)
}

const showLines =
  ({ name }: Job) =>
  (text: string) => {
    for (const line of text.split('\n')) if (line.trim() !== '') console.log(`${basename(name)}: ${line}`)
  }

/** A process, and the jobs that it has run so far. */
type Current = { readonly process: TestProcess; readonly jobs: Job[]; readonly stopLog: () => Promise<void> }

let startedProcesses = 0

const start = async ({ log }: Job, { root, folder, env, signal }: RunnerOptions): Promise<Current> => {
  const { url, stop: stopLog } = await openLogServer(log)
  const own = join(folder, `${startedProcesses++}`)
  const process = await startTestProcess({ root, folder: own, env: { ...env, TEST_LOG_URL: url }, signal })
  return { process, jobs: [], stopLog }
}

const runJob = async ({ process, jobs }: Current, job: Job, options: RunnerOptions): Promise<Outcome> => {
  const { live, costs, server } = options
  const show = live ? showLines(job) : undefined
  if (!costs) return process.run(job.file, show)
  const look = () => [processorSeconds(process.pid), processorSeconds(server())] as const
  const [own, servers] = look()
  const result = await process.run(job.file, show)
  if (result.problem) return result
  const [ownAfter, serversAfter] = look()
  // The start of a process counts for the file that it is started for.
  const cost = {
    own: ownAfter - (jobs.length === 1 ? 0 : own),
    server: serversAfter - servers,
    clock: result.ms / 1_000,
  }
  return { ...result, cost }
}

/** Hands out jobs in their order, to several who run them; nothing more to one for whom there is only what must wait. */
const handOut = function* (left: Set<Job>, running: Set<Job>) {
  for (;;) {
    const isFull = [...running].filter(({ isAlone }) => isAlone).length >= ALONE_AT_ONCE
    const job = [...left].find(({ isAlone }) => !isAlone || !isFull)
    if (!job) return
    left.delete(job)
    running.add(job)
    yield job
    running.delete(job)
  }
}

/** Runs jobs one after another; jobs that may share a process run in the same one. */
const runInTurn = async (jobs: Iterable<Job>, options: RunnerOptions, results: Results) => {
  const { signal } = options
  let current: Current | undefined
  const end = async () => {
    const problem = await current?.process.close()
    await current?.stopLog()
    for (const job of problem && !signal.aborted ? current!.jobs : []) {
      console.log(`\nFAIL ${job.name}, or another file in its process: ${problem}`)
      results.set(job, { ...results.get(job)!, failed: 1, problem: problem! })
    }
    current = undefined
  }
  for (const job of jobs) {
    if (signal.aborted) break
    if (job.isAlone) await end()
    current ??= await start(job, options)
    current.jobs.push(job)
    const result = await runJob(current, job, options)
    results.set(job, result)
    if (!signal.aborted) print(job, result)
    if (result.problem || job.isAlone || current.jobs.length >= FILES_OF_PROCESS) await end()
  }
  await end()
}

const printCosts = (results: Results) => {
  const costs = [...results].flatMap(([{ name }, { cost }]) => (cost ? [{ ...cost, name }] : []))
  costs.sort((a, b) => b.own + b.server - a.own - a.server)
  const total = (key: keyof Cost) => costs.reduce((sum, cost) => sum + cost[key], 0)
  console.log('\n    own  server   clock, in seconds')
  for (const cost of costs) console.log(`${costText(cost)}  ${cost.name}`)
  console.log(`${costText({ own: total('own'), server: total('server'), clock: total('clock') })}  in all`)
}

const printSummary = (results: readonly Result[]): boolean => {
  const total = (key: 'passed' | 'failed' | 'skipped') => results.reduce((sum, result) => sum + result[key], 0)
  const skipped = total('skipped') > 0 ? `, ${total('skipped')} skipped` : ''
  console.log(`\n${total('passed')} passed, ${total('failed')} failed${skipped}`)
  return total('failed') === 0 && total('passed') > 0
}

/** Runs jobs in their order and prints their outcome. @returns whether there were tests, and none failed */
export const run = async (jobs: readonly Job[], options: RunnerOptions): Promise<boolean> => {
  const results: Results = new Map()
  const most = options.costs ? 1 : Math.max(1, Math.floor(options.connections / CONNECTIONS_OF_FILE))
  const [left, running] = [new Set(jobs), new Set<Job>()]
  await Promise.all(
    Array.from({ length: Math.min(AT_ONCE, most) }, () => runInTurn(handOut(left, running), options, results)),
  )
  for (const [job, { problem }] of AGAIN ? [...results] : []) {
    if (!problem || options.signal.aborted) continue
    console.log(`AGAIN ${job.name}: it has failed beside others, now it runs alone`)
    await runInTurn([job], options, results)
  }
  if (options.costs) printCosts(results)
  return printSummary([...results.values()])
}
