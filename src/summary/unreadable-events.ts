import { UnknownEvent } from '../engine/codec.ts'
import type { RecordedEvent } from '../log/log.ts'

type Log = { warn(data: object, message: string): void }

const MAX_STREAMS = 1_000

/**
 * Logs that an event cannot be read and is left out, once for each stream. Of errors only the messages of this project are
 * logged: others may quote content.
 */
export const warnOfUnreadable = (logger: Log) => {
  const warned = new Set<string>()
  return ({ stream, revision, type }: RecordedEvent, error: unknown): void => {
    if (warned.has(stream)) return
    if (warned.size >= MAX_STREAMS) warned.clear()
    warned.add(stream)
    const reason = error instanceof UnknownEvent ? error.message : 'it is damaged'
    logger.warn({ stream, revision: `${revision}`, type, reason }, 'summaries leave out an event that they cannot read')
  }
}
