import { v5 } from 'uuid'
import type { EventLog, LogIdentity } from './log.ts'

// The same on all nodes, so that all show the same id.
const ROOT = 'a4b3a8c2-95d5-5d0f-8a3b-0f0f0f6f7c11'

/** The id of a log that clients see; another one for each epoch. */
export const publicId = ({ id, epoch }: LogIdentity): string => v5(epoch, v5(id, ROOT))

/** The id of the log that clients see: undefined until the log has been read. */
type LogId = {
  /** Changes with the log, and with its epoch. */
  get(): string | undefined
  /** Changes with the log only. */
  ofAllEpochs(): string | undefined
}

/** Reads the log's identity in the background, with retries. */
export const newLogId = (log: Pick<EventLog, 'identity'>, signal: AbortSignal): LogId => {
  let current: LogIdentity | undefined
  const readIdentity = async () => {
    while (!signal.aborted) {
      current = await log.identity().catch(() => undefined)
      if (current) return
      await new Promise((resolve) => setTimeout(resolve, 1_000).unref())
    }
  }
  void readIdentity()
  return { get: () => current && publicId(current), ofAllEpochs: () => current?.id }
}
