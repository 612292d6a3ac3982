import { createInterface } from 'node:readline/promises'
import { escapeControlsInLines } from './escape.ts'
import { UsageError } from './exit.ts'

/** Prints text for a person on stderr. */
export const print = (text: string): void => void process.stderr.write(`${escapeControlsInLines(text)}\n`)

/** Reads one line from the terminal. Throws UsageError with the message `missing` when the input ends first. */
export const askLine = async (question: string, missing: string, signal: AbortSignal): Promise<string> => {
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

/** Whether the user agrees to what is described. Throws UsageError when the input ends first. */
export const askToConfirm = async (description: string): Promise<boolean> => {
  print(description)
  const answer = await askLine('Go on? [y/N] ', 'not confirmed', new AbortController().signal)
  return /^y(es)?$/i.test(answer.trim())
}
