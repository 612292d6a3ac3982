import type { NewEvent } from '../log.ts'
import { type Fields, fieldsOf } from './protobuf.ts'

/** An event as the server stores it; `stream` is the full name. */
export type StoredEvent = NewEvent & { readonly stream: string; readonly revision: bigint; readonly position: bigint }

/** An event in a response. Its stream and position are parsed at once, the rest by `stored`. */
export type LazyEvent = {
  readonly stream: string
  readonly position: bigint
  /** The length of data and metadata. */
  readonly bytes: number
  stored(): StoredEvent
}

/** One message of the server for a read or a subscription, with the fields that are used here. */
export type ReadResponse = {
  readonly event?: LazyEvent
  /** The commit position of a checkpoint. */
  readonly checkpoint?: bigint
  readonly isConfirmation?: boolean
  readonly isCaughtUp?: boolean
}

const EMPTY: Buffer = Buffer.alloc(0)

/** The value of one field of a message. If it occurs several times the last one counts, as protocol buffers define it. */
const only = <T>(message: Buffer, number: number, value: (fields: Fields) => T, otherwise: T): T => {
  const fields = fieldsOf(message)
  let found = otherwise
  for (let field = fields.next(); field > 0; field = fields.next()) if (field === number) found = value(fields)
  return found
}

const bytesIn = (message: Buffer, number: number) => only(message, number, (fields) => fields.bytes(), EMPTY)
const textIn = (message: Buffer, number: number) => bytesIn(message, number).toString()

/** The event's type, an entry of the server's metadata. */
const typeOf = (entries: readonly Buffer[]) => {
  const entry = entries.find((each) => textIn(each, 1) === 'type')
  return entry ? textIn(entry, 2) : ''
}

/** `ReadResp.ReadEvent.RecordedEvent` */
const eventOf = (message: Buffer): LazyEvent => {
  let [id, data, metadata]: [Buffer, Buffer, Buffer] = [EMPTY, EMPTY, EMPTY]
  let [stream, revision, position] = ['', 0n, 0n]
  const entries: Buffer[] = []
  const fields = fieldsOf(message)
  for (let field = fields.next(); field > 0; field = fields.next())
    if (field === 1) id = fields.bytes()
    else if (field === 2) stream = textIn(fields.bytes(), 3)
    else if (field === 3) revision = fields.uint64()
    else if (field === 5) position = fields.uint64()
    else if (field === 6) entries.push(fields.bytes())
    else if (field === 7) metadata = fields.bytes()
    else if (field === 8) data = fields.bytes()
  const stored = (): StoredEvent => ({
    ...{ stream, revision, position },
    id: textIn(id, 2), // the client asks for ids as texts
    type: typeOf(entries),
    data: data.toString(),
    metadata: metadata.toString(),
  })
  return { stream, position, bytes: data.length + metadata.length, stored }
}

/**
 * Parses a `ReadResp` message. The client's own parser takes more time than everything else that is done with an event, and
 * parses metadata as JSON, so that its exact text is lost. There are no linked events, because reads do not resolve links.
 */
export const parseReadResponse = (message: Buffer): ReadResponse => {
  const fields = fieldsOf(message)
  let response: ReadResponse = {}
  for (let field = fields.next(); field > 0; field = fields.next())
    if (field === 1) {
      const event = bytesIn(fields.bytes(), 1)
      if (event.length > 0) response = { event: eventOf(event) }
    } else if (field === 2) response = { isConfirmation: true }
    else if (field === 3) response = { checkpoint: only(fields.bytes(), 1, (inner) => inner.uint64(), 0n) }
    else if (field === 8) response = { isCaughtUp: true }
  return response
}
