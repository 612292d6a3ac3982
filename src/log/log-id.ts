import { v5 } from 'uuid'
import type { EventLog, LogIdentity } from './log.ts'

const ROOT = 'a4b3a8c2-95d5-5d0f-8a3b-0f0f0f6f7c11'

const idOf = ({ id, epoch }: LogIdentity): string => v5(epoch, v5(id, ROOT))

/** What clients are told of the log: another text when it is another log, or one that has lost its end. */
export type LogId = {
  /** Undefined while the log has never been reached. */
  get(): string | undefined
}

/** Asks once, in the background, and again after failures; afterwards the log says itself when it has changed. */
export const newLogId = (log: Pick<EventLog, 'identity' | 'onChange'>, signal: AbortSignal): LogId => {
  let current: string | undefined
  log.onChange((identity) => {
    current = idOf(identity)
  })
  const ask = async () => {
    while (current === undefined && !signal.aborted) {
      const identity = await log.identity().catch(() => undefined)
      if (identity) current ??= idOf(identity)
      else await new Promise((resolve) => setTimeout(resolve, 1_000).unref())
    }
  }
  void ask()
  return { get: () => current }
}
