import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { once } from 'node:events'

/** The ids of a user and its group, as `spawn` and `chown` take them. */
export type Account = { readonly uid: number; readonly gid: number }

export type RunOptions = {
  /** The user to run the program as. Only root can choose another one. */
  readonly account?: Account | undefined
  /** The program's standard input. */
  readonly input?: string
  /** Ends the program. The promise rejects after it has ended. */
  readonly signal?: AbortSignal | undefined
}

/** The environment of programs: without the caller's `PG*` variables, which would change their behaviour. */
export const programEnvironment = () => ({ PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' })

/**
 * Runs a program to its end, in its own session, so that a Ctrl-C for this process does not reach it.
 * @returns the exit code (null after a signal) and the output
 * @throws Error if the program cannot be started or was aborted
 */
export const runProgram = async (
  program: string,
  args: readonly string[],
  { account, input = '', signal }: RunOptions = {},
) => {
  signal?.throwIfAborted()
  const child = spawn(program, args, { ...account, cwd: '/', env: programEnvironment(), detached: true, stdio: 'pipe' })
  const end = () => child.kill('SIGTERM')
  signal?.addEventListener('abort', end, { once: true })
  try {
    child.stdin.on('error', () => {}).end(input)
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    signal?.throwIfAborted()
    return { code: child.exitCode, stdout, stderr }
  } finally {
    signal?.removeEventListener('abort', end)
  }
}
