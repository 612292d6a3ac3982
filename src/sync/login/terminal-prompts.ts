import { createInterface } from 'node:readline/promises'
import open from 'open'
import { escapeControlsInLines } from '../../cli/escape.ts'
import { UsageError } from '../../cli/exit.ts'
import type { Prompts } from './codehost-login.ts'

const print = (text: string): void => void process.stderr.write(`${escapeControlsInLines(text)}\n`)

/** Reads one line from the terminal. Throws UsageError with the message `missing` when the input ends first. */
const askLine = async (question: string, missing: string, signal: AbortSignal): Promise<string> => {
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  lines.once('close', () => reject(new UsageError(missing)))
  try {
    return await Promise.race([lines.question(question, { signal }), ended])
  } finally {
    ended.catch(() => {})
    lines.close()
  }
}

const askToConfirm = async (description: string): Promise<boolean> => {
  print(description)
  const answer = await askLine('Go on? [y/N] ', 'not confirmed', new AbortController().signal)
  return /^y(es)?$/i.test(answer.trim())
}

/** For a user who has confirmed in advance, with `--yes`. */
const printAndConfirm = async (description: string): Promise<boolean> => {
  print(description)
  return true
}

type Options = { readonly opensBrowser: boolean; readonly assumeYes: boolean }

/**
 * Prompts on the terminal that the command runs in. Without a terminal there are none, except that the code is read from
 * standard input when no browser is opened. `assumeYes` confirms without asking.
 */
export const newTerminalPrompts = ({ opensBrowser, assumeYes }: Options): Prompts => ({
  openSignInPage: (url) => {
    print(`Sign in at this address:\n\n  ${url}\n`)
    if (!opensBrowser) return
    // Failing to open a browser is no error: the URL is printed above.
    open(url).then(
      (child) => child.once('error', () => {}),
      () => {},
    )
  },
  askForCode:
    process.stdin.isTTY || !opensBrowser ? (signal) => askLine('Code: ', 'no code was given', signal) : undefined,
  confirm: assumeYes ? printAndConfirm : process.stdin.isTTY ? askToConfirm : undefined,
})
