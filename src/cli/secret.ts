import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { io } from './io.ts'
import { UsageError } from './exit.ts'

/** The value of an option for a secret: the secret itself, `-` for standard input, or true for an option without a value. */
export type GivenSecret = string | true

export type Secret = {
  /** The prompt on a terminal. */
  readonly question: string
  /** The environment variable that is read if no value was given. */
  readonly variable: string
  /** The error if there is no secret. */
  readonly missing: string
}

/** For `--help`: how to give a secret so that it does not appear in a list of processes. */
export const secretHelp = (variable: string): string =>
  `Without a value the code is read from $${variable}, or from a hidden prompt on a terminal; with - it is the
first line of standard input. Then it appears neither in a list of processes nor in the history of a shell.`

/** Discards what readline would show of the typed text. */
const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() })

/** Reads one line of standard input, which a terminal does not show. @throws UsageError if the input ends before */
const readHidden = async ({ question, missing }: Pick<Secret, 'question' | 'missing'>): Promise<string> => {
  const { stdin, stderr } = io()
  const lines = createInterface({ input: stdin, output: nowhere(), terminal: stdin.isTTY })
  if (stdin.isTTY) stderr.write(question) // after the terminal was set to show nothing that is typed
  let first: string | undefined
  try {
    await new Promise<void>((resolve) => {
      lines.once('line', (line) => resolve(void (first = line)))
      lines.once('close', resolve)
    })
    if (first === undefined) throw new UsageError(missing)
    return first
  } finally {
    lines.close()
    if (stdin.isTTY) stderr.write('\n') // the Enter was not shown
  }
}

/**
 * A secret from the command line, else from the environment, else from a prompt, trimmed.
 * @throws UsageError if there is none, or it is empty
 */
export const readSecret = async (given: GivenSecret, secret: Secret): Promise<string> => {
  const named = given === true ? io().env[secret.variable] : given
  if (named === undefined && !io().stdin.isTTY) throw new UsageError(secret.missing)
  const found = (named === undefined || named === '-' ? await readHidden(secret) : named).trim()
  if (found === '') throw new UsageError(secret.missing)
  return found
}
