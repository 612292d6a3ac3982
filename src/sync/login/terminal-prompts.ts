import { createInterface } from 'node:readline/promises'
import open from 'open'
import { plainLines } from '../../cli/escape.ts'
import type { Person } from './codehost-login.ts'
import { UsageError } from '../../cli/exit.ts'

const say = (text: string): void => void process.stderr.write(`${plainLines(text)}\n`)

/** One line of the terminal. Throws UsageError with `missing` when it ends before. */
const ask = async (question: string, missing: string, signal: AbortSignal): Promise<string> => {
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

const askForYes = async (joining: string): Promise<boolean> => {
  say(joining)
  const answer = await ask('Go on? [y/N] ', 'nobody said yes', new AbortController().signal)
  return /^y(es)?$/i.test(answer.trim())
}

/** Says what is joined, to whom has said yes beforehand. */
const agreed = async (joining: string): Promise<boolean> => {
  say(joining)
  return true
}

/**
 * Whoever runs the command. Without a terminal nobody is asked, unless the code is to be pasted anyway; `saysYes` answers
 * for whoever cannot be asked.
 */
export const newPerson = ({ opensBrowser, saysYes }: { opensBrowser: boolean; saysYes: boolean }): Person => ({
  send: (address) => {
    say(`Sign in at this address:\n\n  ${address}\n`)
    if (!opensBrowser) return
    // A machine without a browser is no failure: the address is shown.
    open(address).then(
      (child) => child.once('error', () => {}),
      () => {},
    )
  },
  paste: process.stdin.isTTY || !opensBrowser ? (signal) => ask('Code: ', 'no code was given', signal) : undefined,
  agree: saysYes ? agreed : process.stdin.isTTY ? askForYes : undefined,
})
