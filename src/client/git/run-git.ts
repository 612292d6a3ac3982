import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { devNull } from 'node:os'
import { parse } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { EnvironmentVariables } from '../agents/agent.ts'

/** The variables of git that are passed on: others could name another repository, as they do inside of a hook, or a program. */
const KEPT = new Set(['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM'])

/**
 * Of all protocols none is allowed, because git before 2.45 does not know `GIT_NO_LAZY_FETCH`, and would run the program of `core.sshCommand` for an
 * object that a partial clone lacks.
 */
const FIXED = {
  GIT_ALLOW_PROTOCOL: '',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_NO_LAZY_FETCH: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
}

/**
 * A repository's configuration can name programs to run. These settings switch off what the commands run here would call: file monitors,
 * hooks, and the check of signatures by `log`. `blame` and `diff` compare in the same way, so that what one says of a line is in what the other says. A folder inside of a clone that only looks like a bare repository is not used. Programs of
 * attributes are switched off by `open-repository.ts`, and by the flags of each command.
 */
const SAFE = [
  'core.fsmonitor=false',
  'core.quotePath=false',
  'diff.algorithm=myers',
  'diff.indentHeuristic=true',
  'log.showSignature=false',
  'safe.bareRepository=explicit',
]

/** Where git looks for hooks: nowhere. */
const NO_HOOKS = `core.hooksPath=${devNull}`

/** Git has failed, or is not installed: then `isMissing`. `message` is what git says. */
export class GitFailed extends Error {
  override readonly name = 'GitFailed'
  readonly exitCode: number | undefined
  readonly isMissing: boolean

  constructor(message: string, { exitCode, isMissing = false }: { exitCode?: number; isMissing?: boolean } = {}) {
    super(message)
    this.exitCode = exitCode
    this.isMissing = isMissing
  }
}

export type GitRun = {
  readonly args: readonly string[]
  readonly env: EnvironmentVariables
  /** The folder in which git looks for a repository; absent: none is used. */
  readonly folder?: string
  /** The folder above which git does not look. */
  readonly ceiling?: string
  /** Settings beside those that are always made, as `name=value`. */
  readonly settings?: readonly string[]
  /** For a command that runs no hook, and says where they are. */
  readonly keepsHooksPath?: boolean
  /** An id stands for the object that it is the hash of, also where `git replace` has put another one in its place. */
  readonly ignoresReplacements?: boolean
  /** What git reads. */
  readonly input?: AsyncIterable<Uint8Array | string> | Iterable<string>
  /** Exit codes that are no failure, beside 0. */
  readonly mayExit?: readonly number[]
  /** Git is ended when it has printed more, or takes longer. */
  readonly maxBytes?: number
  readonly timeoutMs?: number
}

const MAX_BYTES = 1 << 30
const MAX_MESSAGE = 4_096

type Child = ChildProcessByStdio<Writable, Readable, Readable>

const start = ({
  args,
  env,
  folder,
  ceiling,
  settings = [],
  keepsHooksPath = false,
  ignoresReplacements = false,
  timeoutMs,
}: GitRun): Child => {
  const where = folder === undefined ? [] : ['-C', folder]
  const found = folder === undefined ? { GIT_DIR: devNull } : { GIT_CEILING_DIRECTORIES: ceiling }
  const made = [...SAFE, ...(keepsHooksPath ? [] : [NO_HOOKS]), ...settings].flatMap((setting) => ['-c', setting])
  const passed = Object.entries(env).filter(([name]) => !/^GIT_/i.test(name) || KEPT.has(name))
  return spawn('git', ['--no-pager', ...where, ...made, ...args], {
    // Not in the repository's folder, which could contain a program with the name git.
    cwd: parse(process.execPath).root,
    env: {
      ...Object.fromEntries(passed),
      ...FIXED,
      ...found,
      ...(ignoresReplacements ? { GIT_NO_REPLACE_OBJECTS: '1' } : {}),
    },
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
    killSignal: 'SIGKILL',
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
  })
}

/** Hands the input on. What git does not read any more, because it has ended, is no failure; that the input cannot be read is one. */
const feed = async ({ stdin }: Child, input: GitRun['input']): Promise<void> => {
  stdin.on('error', () => {})
  if (!input) return void stdin.end()
  await pipeline(input, stdin).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
  })
}

/** How git has ended: undefined if well. */
const failureOf = (child: Child, { args: [command = ''], mayExit = [] }: GitRun): Promise<GitFailed | undefined> => {
  const { promise, resolve } = Promise.withResolvers<GitFailed | undefined>()
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < MAX_MESSAGE) said += text.slice(0, MAX_MESSAGE - said.length)
  })
  child.once('error', (error: NodeJS.ErrnoException) => {
    const isMissing = error.code === 'ENOENT'
    resolve(new GitFailed(isMissing ? 'git is not installed' : error.message, { isMissing }))
  })
  child.once('close', (code, signal) => {
    if (code === 0 || (code !== null && mayExit.includes(code))) return resolve(undefined)
    if (code === null) return resolve(new GitFailed(`git ${command} took too long, or was ended by ${signal}`))
    resolve(new GitFailed(said.trim() || `git ${command} ended with exit code ${code}`, { exitCode: code }))
  })
  return promise
}

/**
 * Runs git, and gives what it prints, piece by piece. No program that the repository names is run. @throws GitFailed, and what `input` throws
 */
export async function* streamGit(run: GitRun): AsyncGenerator<Buffer, void> {
  const { maxBytes = MAX_BYTES } = run
  const child = start(run)
  const failed = failureOf(child, run)
  const fed = feed(child, run.input).then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
  let bytes = 0
  try {
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > maxBytes) throw new GitFailed(`git ${run.args[0]} printed more than ${maxBytes} bytes`)
      yield chunk
    }
    const unread = await fed
    if (unread) throw unread.error
    const failure = await failed
    if (failure) throw failure
  } finally {
    child.kill('SIGKILL')
  }
}

/** Runs git, and gives what it has printed. What is no UTF-8 is U+FFFD. @throws GitFailed */
export const runGit = async (run: GitRun): Promise<string> =>
  Buffer.concat(await Array.fromAsync(streamGit(run))).toString('utf8')
