import { createInterface } from 'node:readline/promises'
import { io } from './io.ts'
import { UsageError } from './exit.ts'
import { sayLines } from './output.ts'

/** Reads one line from the terminal. Throws UsageError with the message `missing` when the input ends first. */
export const askLine = async (question: string, missing: string, signal: AbortSignal): Promise<string> => {
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const lines = createInterface({ input: io().stdin, output: io().stderr })
  const onEnd = () => {
    io().stderr.write('\n') // The question stands on a line that nobody has ended.
    reject(new UsageError(missing))
  }
  lines.once('close', onEnd)
  try {
    return await Promise.race([lines.question(question, { signal }), ended])
  } finally {
    lines.off('close', onEnd)
    ended.catch(() => {})
    lines.close()
  }
}

/** Whether the user agrees to what is described. Throws UsageError when the input ends first. */
export const askToConfirm = async (description: string): Promise<boolean> => {
  sayLines(description)
  const answer = await askLine('Go on? [y/N] ', 'not confirmed', new AbortController().signal)
  return /^y(es)?$/i.test(answer.trim())
}

/**
 * Has the user agree to what is described, before it is done; with `yes` they have. Throws UsageError where they do not, and without a
 * terminal to ask on.
 */
export const requireAgreement = async (description: string, yes: boolean): Promise<void> => {
  if (yes) return
  if (!io().stdin.isTTY || !io().stderr.isTTY)
    throw new UsageError('nobody can be asked here whether this is meant: run it in a terminal, or agree with --yes')
  if (!(await askToConfirm(description))) throw new UsageError('not confirmed: nothing was changed')
}
