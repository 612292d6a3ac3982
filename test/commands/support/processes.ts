import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { readRunningService } from '../../../src/eventstore/embedded/lock.ts'
import { giveCluster } from '../../support/cluster.ts'
import { logEnvironment } from '../../support/log-place.ts'
import { until } from '../../support/until.ts'
import { type Ended, type User, type Variables, bareNeed } from './user.ts'

const main = join(import.meta.dirname, '..', '..', '..', 'src', 'main.ts')

/** The program that runs `tracebook`, and its arguments before those of the command. */
export type Program = readonly [file: string, ...args: string[]]

const ofClone: Program = [process.execPath, main]

/** `tracebook` as a user starts it, with these environment variables and only the necessary ones of the caller. */
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

/** Whether this machine has a program that makes terminals, which Node cannot. Without it tests of terminals are skipped. */
export const hasTerminals = ((process.env.PATH ?? '').split(':') as readonly string[]).some((folder) =>
  existsSync(join(folder, 'script')),
)

/**
 * Runs a command of a user on a terminal with these columns and rows, and types `input` into it. `out` is everything that it shows.
 * Needs `hasTerminals`.
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

/** `input` is typed, followed by Enter, once the question is shown. Default: a question with the answers yes and no. */
export type Terminal = {
  readonly input?: string
  readonly question?: string
  readonly columns?: number
  readonly rows?: number
  readonly variables?: Variables
}

const ofService = (dataDir: string, port = 0): Variables => ({
  CATALOGUE_URL: 'none', // the first catalogue would take each start a fifth of a second
  DATA_DIR: dataDir,
  HOST: '127.0.0.1',
  PORT: String(port),
  LOG_LEVEL: 'warn',
  RATE_LIMITS: 'off',
  SUMMARY_PROVIDER: 'none', // on a slow machine summaries would add entries to the timelines of tests
  ...logEnvironment(dataDir),
})

/** Runs `tracebook serve` with these variables to its end, for starts that must fail. */
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

/** Starts the service on a folder; resolves when it is ready for reads and writes. Rejects with its output if it ends before. */
export const startService = async (
  dataDir: string,
  port?: number,
  program = ofClone,
  variables: Variables = {},
): Promise<RunningService> => {
  if (program === ofClone) await giveCluster(dataDir)
  const { child, ended } = start(['serve'], { ...ofService(dataDir, port), ...variables }, program)
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
