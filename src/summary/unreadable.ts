import { UnknownEvent } from '../engine/codec.ts'
import type { RecordedEvent } from '../log/log.ts'

type Log = { warn(data: object, message: string): void }

const MAX_REMEMBERED = 1_000

/** Says once of each stream that an event of it is left out. Other errors than ours may quote content: no word of them. */
export const newUnreadable = (logger: Log) => {
  const said = new Set<string>()
  return ({ stream, revision, type }: RecordedEvent, error: unknown): void => {
    if (said.has(stream)) return
    if (said.size >= MAX_REMEMBERED) said.clear()
    said.add(stream)
    const reason = error instanceof UnknownEvent ? error.message : 'it is damaged'
    logger.warn({ stream, revision: `${revision}`, type, reason }, 'summaries leave out an event that they cannot read')
  }
}
