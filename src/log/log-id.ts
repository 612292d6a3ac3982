import { v5 } from 'uuid'
import type { EventLog, LogIdentity } from './log.ts'

// The same on all nodes, so that all show the same id.
const ROOT = 'a4b3a8c2-95d5-5d0f-8a3b-0f0f0f6f7c11'

/** The id of a log that clients see; another one for each epoch. */
export const publicId = ({ id, epoch }: LogIdentity): string => v5(epoch, v5(id, ROOT))

/** The id of the log that clients see. It changes with the log, and with its epoch. */
type LogId = {
  /** Undefined until the log has been read. */
  get(): string | undefined
}

/** Reads the log's identity in the background, with retries; later changes come from the log's `onChange`. */
export const newLogId = (log: Pick<EventLog, 'identity' | 'onChange'>, signal: AbortSignal): LogId => {
  let current: string | undefined
  log.onChange((identity) => {
    current = publicId(identity)
  })
  const readIdentity = async () => {
    while (current === undefined && !signal.aborted) {
      const identity = await log.identity().catch(() => undefined)
      if (identity) current ??= publicId(identity)
      else await new Promise((resolve) => setTimeout(resolve, 1_000).unref())
    }
  }
  void readIdentity()
  return { get: () => current }
}
