import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { runs } from './runs.ts'
import { setLimit } from './set-limit.ts'
import { testEnvironment } from './test-environment.ts'

const { TEST_LIMIT_SECONDS, TEST_EVENTSTORE_URL } = process.env
/** How long a file may take. With a given server it may take longer, because that may hold many other events, which are skipped again and again. */
const limitSeconds = (): number => runs(Number(TEST_LIMIT_SECONDS ?? (TEST_EVENTSTORE_URL ? 900 : 120)))

/** The line that a worker writes to both outputs when a test file has ended. */
export const FILE_END = '\n\u0004\n'

/** The message for a worker that has run all files. The worker then disconnects itself, because 'close' is not emitted if the parent does. */
export const NO_MORE_FILES = ''

/** The result of a test file. `problem` says in a few words why it counts as failed. */
export type Result = {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly problem?: string
  readonly output: string
  readonly ms: number
}

export type ProcessOptions = {
  readonly root: string
  /** The temp folder of the process. It is created here, and removed when the process has ended. */
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** Called with the output of a file as it arrives. */
export type Show = (text: string) => void

/** A process that runs test files one after another. */
export type TestProcess = {
  readonly pid: number
  /** Runs a file. After one that has failed the process cannot run another. */
  run(file: string, show?: Show): Promise<Result>
  /** Ends the process. Returns why it did not end by itself, as it does if its files have closed everything that they opened. */
  close(): Promise<string | undefined>
}

/** The numbers that uvu prints at the end of a file; undefined if no suite was run. */
const figuresOf = (output: string) => {
  const found = [...output.matchAll(/Total:\s+(\d+)\s+Passed:\s+(\d+)\s+Skipped:\s+(\d+)/g)]
  const sum = (group: number) => found.reduce((sum, figures) => sum + Number(figures[group]), 0)
  return found.length > 0 ? { total: sum(1), passed: sum(2), skipped: sum(3) } : undefined
}

const judge = (
  output: string,
  ended: string | undefined,
): Pick<Result, 'passed' | 'failed' | 'skipped' | 'problem'> => {
  const figures = figuresOf(output)
  const passed = figures?.passed ?? 0
  const failed = figures ? figures.total - passed : 0
  const counts = { passed, failed, skipped: figures?.skipped ?? 0 }
  if (failed > 0) return { ...counts, problem: `${failed} failed` }
  if (ended !== undefined) return { ...counts, failed: 1, problem: ended }
  if (!figures || figures.total + figures.skipped === 0)
    return { ...counts, failed: 1, problem: 'ran no test: is test.run() missing?' }
  return counts
}

/** Ends a process and all others in its group. */
const killGroup = ({ pid }: ChildProcess) => {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // the group has no process any more
  }
}

/** Collects the output of a stream up to the end of a test file. */
const newCollector = (stream: Readable, print: Show) => {
  let text = ''
  let fileEnded = () => {}
  stream.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
    print(piece.replaceAll(FILE_END, '\n'))
    if (text.includes(FILE_END)) fileEnded()
  })
  /** The output up to the end of the file, or so far. */
  const take = (): string => {
    const end = text.indexOf(FILE_END)
    const taken = end < 0 ? text : text.slice(0, end)
    text = end < 0 ? '' : text.slice(end + FILE_END.length)
    return taken
  }
  return { take, untilFileEnds: () => new Promise<void>((resolve) => (fileEnded = resolve)) }
}

const WORKER = join(import.meta.dirname, 'worker.ts')
const NAMED_TESTS = new URL('./preload-named-tests.ts', import.meta.url).href

const homeIn = (folder: string) => join(folder, 'home')

const launch = ({ root, folder, env }: ProcessOptions) => {
  const child = spawn(process.execPath, [...(process.env.TEST_NAME ? ['--import', NAMED_TESTS] : []), WORKER], {
    cwd: root,
    detached: true,
    env: { ...testEnvironment(process.env, homeIn(folder)), ...env, NO_COLOR: '1', TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  return child
}

/** Starts a process that waits for test files. */
export const startTestProcess = async (options: ProcessOptions): Promise<TestProcess> => {
  const { folder, signal } = options
  await mkdir(folder)
  await chmod(folder, 0o711)
  await mkdir(homeIn(folder), { mode: 0o700 })
  const child = launch(options)
  let show: Show | undefined
  const outputs = [child.stdout!, child.stderr!].map((stream) => newCollector(stream, (text) => show?.(text)))
  const closed = once(child, 'close')
  const ended = once(child, 'exit').then(([code, name]: (number | string | null)[]) => {
    killGroup(child)
    return code === null ? `ended by ${name}` : `exit code ${code}`
  })
  let killed: string | undefined
  /** Does nothing if the process has just ended. */
  const send = (text: string) => {
    if (child.connected) child.send(text, () => {})
  }
  const kill = (reason: string) => {
    killed ??= reason
    killGroup(child)
  }
  const stop = () => kill('stopped')
  signal.addEventListener('abort', stop)
  const withinLimit = async <T>(work: Promise<T>): Promise<T> => {
    const seconds = limitSeconds()
    const lift = setLimit(seconds * 1_000, () => kill(`did not end within ${seconds} s`))
    return work.finally(lift)
  }

  const run = async (file: string, shown?: Show): Promise<Result> => {
    const started = performance.now()
    show = shown
    const fileEnds = Promise.all(outputs.map(({ untilFileEnds }) => untilFileEnds())).then(() => undefined)
    send(file)
    const early = await withinLimit(Promise.race([fileEnds, ended]))
    if (early !== undefined) await closed
    const output = stripVTControlCharacters(outputs.map(({ take }) => take()).join(''))
    const judged = judge(output, early === undefined ? undefined : (killed ?? early))
    if (judged.problem) kill(judged.problem)
    return { ...judged, output, ms: performance.now() - started }
  }
  const close = async () => {
    send(NO_MORE_FILES)
    const hadFailed = killed !== undefined
    const how = await withinLimit(ended)
    await closed
    signal.removeEventListener('abort', stop)
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    return hadFailed || how === 'exit code 0' ? undefined : (killed ?? how)
  }
  return { pid: child.pid!, run, close }
}
