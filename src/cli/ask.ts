import { createInterface } from 'node:readline/promises'
import { io } from './io.ts'
import { UsageError } from './exit.ts'
import { sayLines } from './output.ts'

/** Reads one line from the terminal. @throws UsageError with the message `missing` if the input ends first */
export const askLine = async (question: string, missing: string, signal: AbortSignal): Promise<string> => {
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const lines = createInterface({ input: io().stdin, output: io().stderr })
  const onEnd = () => {
    io().stderr.write('\n') // ends the line of the question
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

/** Whether the user confirms. @throws UsageError if the input ends first */
export const askToConfirm = async (description: string): Promise<boolean> => {
  sayLines(description)
  const answer = await askLine('Continue? [y/N] ', 'Not confirmed: nothing was changed.', new AbortController().signal)
  return /^y(es)?$/i.test(answer.trim())
}

/**
 * Asks the user to confirm, unless `yes` is given. @throws UsageError without confirmation, and without a terminal
 */
export const requireAgreement = async (description: string, yes: boolean): Promise<void> => {
  if (yes) return
  if (!io().stdin.isTTY || !io().stderr.isTTY)
    throw new UsageError(
      'This needs confirmation, but there is no terminal: run it in a terminal, or confirm with --yes.',
    )
  if (!(await askToConfirm(description))) throw new UsageError('Not confirmed: nothing was changed.')
}
