import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

const { TEST_LIMIT_SECONDS, TEST_EVENTSTORE_URL } = process.env
/** A server given for the tests may hold much else, which has to be passed over again and again. */
const LIMIT_MS = Number(TEST_LIMIT_SECONDS ?? (TEST_EVENTSTORE_URL ? 900 : 120)) * 1_000

/** What became of a process with tests. `problem` says in a few words why it counts as failed. */
export type Result = {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly problem?: string
  readonly output: string
  readonly ms: number
}

export type RunOptions = {
  readonly root: string
  /** Does not exist yet; the process's temp folder, removed after it. */
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Gets what the process prints, as it comes. */
  readonly show?: (text: string) => void
}

/** What uvu says at the end of each file, in all; nothing when no suite was run. */
const figuresOf = (output: string) => {
  const found = [...output.matchAll(/Total:\s+(\d+)\s+Passed:\s+(\d+)\s+Skipped:\s+(\d+)/g)]
  const sum = (group: number) => found.reduce((sum, figures) => sum + Number(figures[group]), 0)
  return found.length > 0 ? { total: sum(1), passed: sum(2), skipped: sum(3) } : undefined
}

const judge = (output: string, how: number | string) => {
  const figures = figuresOf(output)
  const passed = figures?.passed ?? 0
  const failed = figures ? figures.total - passed : 0
  const counts = { passed, failed, skipped: figures?.skipped ?? 0 }
  if (failed > 0) return { ...counts, problem: `${failed} failed` }
  if (how !== 0) return { ...counts, failed: 1, problem: typeof how === 'number' ? `exit code ${how}` : how }
  if (!figures || figures.total + figures.skipped === 0)
    return { ...counts, failed: 1, problem: 'ran no test: is test.run() missing?' }
  return counts
}

/** Ends a process with all that it has started and left in its group. */
const killGroup = ({ pid }: ChildProcess) => {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // nobody is left
  }
}

const finish = async (child: ChildProcess, limitMs: number, signal: AbortSignal): Promise<number | string> => {
  let why: string | undefined
  const end = (reason: string) => () => {
    why ??= reason
    killGroup(child)
  }
  const stopped = end('stopped')
  const limit = setTimeout(end(`did not end within ${limitMs / 1_000} s`), limitMs)
  signal.addEventListener('abort', stopped)
  const [code, name] = (await once(child, 'exit')) as [number | null, string | null]
  clearTimeout(limit)
  signal.removeEventListener('abort', stopped)
  killGroup(child)
  return why ?? code ?? `ended by ${name}`
}

const ONE_PROCESS = join(import.meta.dirname, 'run-in-one-process.ts')
const NAMED_TESTS = new URL('./preload-named-tests.ts', import.meta.url).href

const argumentsFor = (files: readonly string[]): string[] => [
  ...(process.env.TEST_NAME ? ['--import', NAMED_TESTS] : []),
  ...(files.length === 1 ? files : [ONE_PROCESS, ...files]),
]

/** Runs test files in one process of their own. */
export const runFiles = async (
  files: readonly string[],
  { root, folder, env, signal, show }: RunOptions,
): Promise<Result> => {
  const started = performance.now()
  await mkdir(folder)
  await chmod(folder, 0o711)
  const child = spawn(process.execPath, argumentsFor(files), {
    cwd: root,
    detached: true,
    env: { ...process.env, ...env, NO_COLOR: '1', TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      show?.(text)
    })
  const limitMs = files.length === 1 ? LIMIT_MS : 2 * LIMIT_MS
  const [how] = await Promise.all([finish(child, limitMs, signal), once(child, 'close')])
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  output = stripVTControlCharacters(output)
  return { ...judge(output, how), output, ms: performance.now() - started }
}
