import { createInterface } from 'node:readline/promises'
import open from 'open'
import type { Person } from './codehost-login.ts'
import { UsageError } from './errors.ts'

const say = (text: string): void => void process.stderr.write(`${text}\n`)

const ask = async (signal: AbortSignal): Promise<string> => {
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  lines.once('close', () => reject(new UsageError('no code was given')))
  try {
    return await Promise.race([lines.question('Code: ', { signal }), ended])
  } finally {
    ended.catch(() => {})
    lines.close()
  }
}

/** Whoever runs the command. Without a terminal nobody is asked, unless the code is to be pasted anyway. */
export const newPerson = (opensBrowser: boolean): Person => ({
  send: (address) => {
    say(`Sign in at this address:\n\n  ${address}\n`)
    if (!opensBrowser) return
    // A machine without a browser is no failure: the address is shown.
    open(address).then(
      (child) => child.once('error', () => {}),
      () => {},
    )
  },
  paste: process.stdin.isTTY || !opensBrowser ? ask : undefined,
})
