import { randomUUID } from 'node:crypto'
import type { LogIdentity, Position } from '../log.ts'
import { changeMetadata } from './change-metadata.ts'
import type { Questions } from './server-reads.ts'
import { type Metadata, metadataStream, parseMetadata } from './truncation-point.ts'
import type { Writer } from './writer.ts'

export type Identified = {
  /** Who the log is; made at the first call. @throws LogUnavailable */
  identity(): Promise<LogIdentity>
  /** The same, but undefined where it has not been made. @throws LogUnavailable */
  known(): Promise<LogIdentity | undefined>
  /** Gives the log a new epoch, unless it has another one than `seen` already; who the log is then. @throws LogUnavailable */
  renewEpoch(seen: string): Promise<LogIdentity>
  /**
   * Whether this very event stands at a position. `undefined` when nothing stands there any more, because it was erased
   * and scavenged: that proves nothing. `false` beyond the end of the log, too, which a node that has just begun to lead
   * may not have reached. @throws LogUnavailable
   */
  holds(position: Position, id: string): Promise<boolean | undefined>
}

/** Beside the streams of events; it never gets one itself, its metadata says who the log is. */
const STREAM = 'identity'
const KEY = 'tracebookLog'

const identityOf = ({ [KEY]: value }: Metadata): LogIdentity | undefined => {
  const { id, epoch } = (value ?? {}) as Partial<LogIdentity>
  return typeof id === 'string' && typeof epoch === 'string' ? { id, epoch } : undefined
}

/**
 * The identity of a log is metadata of a stream with its prefix: one event, whose newest revision outlives each
 * scavenge, changed only from the revision that was read.
 */
export const newIdentified = (
  questions: Pick<Questions, 'last' | 'at'>,
  writer: Pick<Writer, 'append'>,
  prefix: string,
): Identified => {
  const change = async (next: (known: LogIdentity | undefined) => LogIdentity | undefined) => {
    const metadata = await changeMetadata(questions, writer, prefix + STREAM, (metadata) => {
      const identity = next(identityOf(metadata))
      return identity && { ...metadata, [KEY]: identity }
    })
    return identityOf(metadata)!
  }
  const created = () => ({ id: randomUUID(), epoch: randomUUID() })

  const identity = () => change((known) => (known ? undefined : created()))

  const known = async () =>
    identityOf(parseMetadata((await questions.last(metadataStream(prefix + STREAM)))?.data ?? ''))

  const renewEpoch = (seen: string) =>
    change((known) => {
      if (!known) return created()
      return known.epoch === seen ? { ...known, epoch: randomUUID() } : undefined
    })

  const holds = async (position: Position, id: string) => {
    const found = await questions.at(position)
    if (found === undefined || found === 'not a record') return false
    return found.position === position ? found.id === id : undefined
  }

  return { identity, known, renewEpoch, holds }
}
