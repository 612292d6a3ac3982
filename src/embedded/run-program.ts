import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { once } from 'node:events'

/** A user of this machine by its numbers, as `spawn` and `chown` take them. */
export type Account = { readonly uid: number; readonly gid: number }

export type RunOptions = {
  /** Another user to run it as; only root can. */
  readonly account?: Account | undefined
  /** What it reads from its standard input. */
  readonly input?: string
  /** Ends it; the promise then rejects, after the program has gone. */
  readonly signal?: AbortSignal | undefined
}

/** What our programs see of the environment: no PG* variable of the caller's may bend them. */
export const environment = () => ({ PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' })

/**
 * Runs a program to its end, in a session of its own: a Ctrl-C meant for us does not reach it.
 * @returns its exit code (null after a signal) and its output
 * @throws Error when it cannot be started or was aborted
 */
export const run = async (
  program: string,
  args: readonly string[],
  { account, input = '', signal }: RunOptions = {},
) => {
  signal?.throwIfAborted()
  const child = spawn(program, args, { ...account, cwd: '/', env: environment(), detached: true, stdio: 'pipe' })
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
