import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { readRunningService } from '../../../src/embedded/lock.ts'
import { giveCluster } from '../../support/cluster.ts'
import { logEnvironment } from '../../support/log-place.ts'
import { until } from '../../support/until.ts'
import { type Ended, type User, type Variables, bareNeed } from './user.ts'

const main = join(import.meta.dirname, '..', '..', '..', 'src', 'main.ts')

/** What runs `tracebook`: a file, and what comes before the command's own arguments. */
export type Program = readonly [file: string, ...args: string[]]

const ofClone: Program = [process.execPath, main]

/** `tracebook` as a user starts it, with these variables and nothing else of the caller's shell but the bare need. */
export const start = (
  args: readonly string[],
  variables: Variables,
  [file, ...before] = ofClone,
): { child: ChildProcess; ended: Promise<Ended> } => {
  const env = { ...bareNeed(), ...variables }
  const child = spawn(file, [...before, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
    ([out, err, [code, signal]]) => ({ how: (code ?? signal) as Ended['how'], out, err }),
  )
  return { child, ended }
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Where there is none, tests of what a terminal shows are left out: Node itself has no way to make one. */
export const hasTerminals = ((process.env.PATH ?? '').split(':') as readonly string[]).some((folder) =>
  existsSync(join(folder, 'script')),
)

/**
 * Runs a command of a user on a terminal of its own, so wide and high, and types `input` into it. `out` is all that it shows.
 * Takes `hasTerminals`.
 */
export const runOnTerminal = async (
  { variables }: User,
  { input = '', question = '[y/N]', columns = 80, rows = 24, variables: more = {} }: Terminal,
  ...args: readonly string[]
): Promise<Ended> => {
  const words = [...ofClone, ...args].map(quoted).join(' ')
  const { PATH = '', TMPDIR = '', NODE_COMPILE_CACHE = '' } = process.env
  const env = { PATH, TMPDIR, NODE_COMPILE_CACHE, TERM: 'xterm', SHELL: '/bin/sh', ...variables, ...more }
  const command = `stty cols ${columns} rows ${rows}; ${words}`
  const child = spawn('script', ['-qec', command, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'pipe'] })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    out += piece
    if (input !== '' && out.includes(question) && !child.stdin.writableEnded) child.stdin.end(`${input}\n`)
  })
  if (input === '') child.stdin.on('error', () => {})
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  return { how: (code ?? signal) as Ended['how'], out: out.replaceAll('\r\n', '\n'), err: '' }
}

/** `input` is typed, with its Enter, once the question is asked; by default one to which the answer is yes or no. */
export type Terminal = {
  readonly input?: string
  readonly question?: string
  readonly columns?: number
  readonly rows?: number
  readonly variables?: Variables
}

const ofService = (dataDir: string, port = 0): Variables => ({
  DATA_DIR: dataDir,
  HOST: '127.0.0.1',
  PORT: String(port),
  LOG_LEVEL: 'warn',
  RATE_LIMITS: 'off',
  SUMMARY_PROVIDER: 'none', // on a slow machine its summaries would be entries among those of a test
  ...logEnvironment(dataDir),
})

/** `tracebook serve` with these variables, to its end: for starts that must fail. */
export const serveInVain = (dataDir: string, variables: Variables = {}): Promise<Ended> =>
  start(['serve'], { ...ofService(dataDir), ...variables }).ended

export type RunningService = {
  readonly url: string
  readonly pid: number
  /** Sends a signal and waits until the process has ended. */
  end(signal: NodeJS.Signals): Promise<Ended>
}

const isReady = (url: string) =>
  fetch(`${url}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  )

/** Starts the service on a folder; resolves when it is ready for reads and writes. Rejects with its words when it ends before. */
export const startService = async (dataDir: string, port?: number, program = ofClone): Promise<RunningService> => {
  if (program === ofClone) await giveCluster(dataDir)
  const { child, ended } = start(['serve'], ofService(dataDir, port), program)
  let failure: Ended | undefined
  void ended.then((end) => (failure = end))
  const address = async () => {
    if (failure) throw new Error(`the service did not start: ${failure.err}`)
    const running = await readRunningService(dataDir).catch(() => undefined)
    return running?.pid === child.pid ? running : undefined
  }
  await until(async () => (await address()) !== undefined)
  const { url } = (await address())!
  await until(() => isReady(url))
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return ended
  }
  return { url, pid: child.pid!, end }
}
