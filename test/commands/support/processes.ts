import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { readRunningService } from '../../../src/embedded/lock.ts'
import { inFolder } from '../../embedded/support.ts'
import { logEnvironment } from '../../support/log-place.ts'
import { runCommand } from '../../support/run-command.ts'
import { until } from '../../support/until.ts'

const main = join(import.meta.dirname, '..', '..', '..', 'src', 'main.ts')

export type Variables = Readonly<Record<string, string>>
/** What runs `tracebook`: a file, and what comes before the command's own arguments. */
export type Program = readonly [file: string, ...args: string[]]

const ofClone: Program = [process.execPath, main]

/** What a command finds of the caller's shell, beside variables of its own. */
const bareNeed = () => {
  const { PATH = '', TMPDIR = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  return { PATH, TMPDIR, HOME, NODE_COMPILE_CACHE }
}

/** How a process ended: its exit code or signal, and all that it said. */
export type Ended = { readonly how: number | NodeJS.Signals; readonly out: string; readonly err: string }

const started = new Set<ChildProcess>()

/** Gives the work a folder, and ends what a failed test has left running. */
export const inTemporary = (work: (folder: string) => Promise<unknown>) =>
  inFolder(async (folder) => {
    try {
      await work(folder)
    } finally {
      for (const child of started) child.kill('SIGKILL')
    }
  })

/** `tracebook` as a user starts it, with these variables and nothing else of the caller's shell but the bare need. */
export const start = (
  args: readonly string[],
  variables: Variables,
  [file, ...before] = ofClone,
): { child: ChildProcess; ended: Promise<Ended> } => {
  const env = { ...bareNeed(), ...variables }
  const child = spawn(file, [...before, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  started.add(child)
  child.once('exit', () => started.delete(child))
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

/** Runs a command on a terminal of its own, so wide and high, and types `input` into it. `out` is all that it shows. */
const runOnTerminal = async (
  args: readonly string[],
  variables: Variables,
  { input = '', question = '[y/N]', columns = 80, rows = 24 }: Terminal,
  program: Program,
): Promise<Ended> => {
  const words = [...program, ...args].map(quoted).join(' ')
  const { PATH = '', TMPDIR = '', NODE_COMPILE_CACHE = '' } = process.env
  const env = { PATH, TMPDIR, NODE_COMPILE_CACHE, TERM: 'xterm', SHELL: '/bin/sh', ...variables }
  const command = `stty cols ${columns} rows ${rows}; ${words}`
  const child = spawn('script', ['-qec', command, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'pipe'] })
  started.add(child)
  child.once('exit', () => started.delete(child))
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
}

/** Runs a command to its end, in this process. Not for `serve`, which replaces its process. */
export const run = (args: readonly string[], variables: Variables): Promise<Ended> =>
  runCommand(args, { ...bareNeed(), ...variables })

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

/** A user of the command line: a folder with the tokens and another with Claude Code's files. */
export type User = {
  readonly config: string
  readonly claude: string
  /** Runs a command to its end: in this process, or of a program that was given. */
  run(...args: readonly string[]): Promise<Ended>
  /** The same on a terminal, which takes `hasTerminals`. */
  onTerminal(terminal: Terminal & { readonly variables?: Variables }, ...args: readonly string[]): Promise<Ended>
  /** The same, and the process can be killed. */
  start(...args: readonly string[]): { child: ChildProcess; ended: Promise<Ended> }
}

/** `folder`: whatever the user owns stands below it. `url`: the server that the user talks to. */
export const newUser = (folder: string, url: string, program?: Program): User => {
  const [config, claude] = [join(folder, 'config'), join(folder, 'claude')]
  const variables = { TRACEBOOK_URL: url, TRACEBOOK_CONFIG_DIR: config, CLAUDE_CONFIG_DIR: claude, HOME: folder }
  return {
    config,
    claude,
    run: (...args) => (program ? start(args, variables, program).ended : run(args, variables)),
    onTerminal: ({ variables: more = {}, ...terminal }, ...args) =>
      runOnTerminal(args, { ...variables, ...more }, terminal, program ?? ofClone),
    start: (...args) => start(args, variables, program),
  }
}
