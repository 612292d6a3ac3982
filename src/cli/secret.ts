import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { io } from './io.ts'
import { UsageError } from './exit.ts'

/** What a user has given for a secret: itself, `-` for standard input, or true where only the option was named. */
export type GivenSecret = string | true

export type Secret = {
  /** Asked on a terminal. */
  readonly question: string
  /** The environment variable that holds it where it was not given. */
  readonly variable: string
  /** What is said where there is none. */
  readonly missing: string
}

/** For `--help`: where a secret can come from, so that no list of processes shows it. */
export const secretHelp = (variable: string): string =>
  `Without a value the code is that of $${variable}, or asked for on a terminal without showing it; with -
it is the first line of standard input. Then no list of processes shows it, nor the history of a shell.`

/** What readline shows of what is typed: nothing. */
const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() })

/** Reads one line of standard input; on a terminal what is typed is not shown. Throws UsageError where the input ends before. */
const readHidden = async ({ question, missing }: Pick<Secret, 'question' | 'missing'>): Promise<string> => {
  const { stdin, stderr } = process
  const lines = createInterface({ input: stdin, output: nowhere(), terminal: stdin.isTTY })
  if (stdin.isTTY) stderr.write(question) // From here on the terminal shows nothing of what is typed.
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
    if (stdin.isTTY) stderr.write('\n') // The Enter was not shown.
  }
}

/**
 * The secret, of what the user has given, else of the environment, else of who sits at the terminal. Spaces around it are cut off.
 * @throws UsageError where there is none, or it is empty
 */
export const readSecret = async (given: GivenSecret, secret: Secret): Promise<string> => {
  const named = given === true ? io().env[secret.variable] : given
  if (named === undefined && !io().stdin.isTTY) throw new UsageError(secret.missing)
  const found = (named === undefined || named === '-' ? await readHidden(secret) : named).trim()
  if (found === '') throw new UsageError(secret.missing)
  return found
}
