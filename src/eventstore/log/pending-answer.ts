import type { Appended } from './log.ts'

/** The one answer that an append waits for. */
export type PendingAnswer = {
  readonly answered: Promise<Appended>
  /** Sets the answer. Only the first call counts. */
  readonly settle: (outcome: Appended | Error) => void
  readonly isSettled: () => boolean
}

/** `late` is called at the deadline if there is no answer yet, and has to set one; `onSettled` is called with any answer. */
export const newPendingAnswer = (deadlineMs: number, late: () => void, onSettled = () => {}): PendingAnswer => {
  const { promise: answered, resolve, reject } = Promise.withResolvers<Appended>()
  const deadline = setTimeout(late, Math.max(0, deadlineMs))
  let isSettled = false
  const settle = (outcome: Appended | Error) => {
    if (isSettled) return
    isSettled = true
    onSettled()
    clearTimeout(deadline)
    if (outcome instanceof Error) reject(outcome)
    else resolve(outcome)
  }
  return { answered, settle, isSettled: () => isSettled }
}
