import type { NewEvent } from '../log.ts'
import { type Fields, fieldsOf } from './protobuf.ts'

/** An event as the server has it; `stream` is the full name. */
export type Stored = NewEvent & { readonly stream: string; readonly revision: bigint; readonly position: bigint }

/** An event on its way: its place is known at once, the rest is read when it is wanted. */
export type SentEvent = {
  readonly stream: string
  readonly position: bigint
  /** Of data and metadata. */
  readonly bytes: number
  stored(): Stored
}

/** What the server sends to a read or a subscription, as far as it matters here. */
export type Sent = {
  readonly event?: SentEvent
  /** The commit position of a checkpoint. */
  readonly checkpoint?: bigint
  readonly isConfirmation?: boolean
  readonly isCaughtUp?: boolean
}

const NOTHING: Buffer = Buffer.alloc(0)

/** The value of one field of a message: the last one, as the format has it. */
const only = <T>(message: Buffer, number: number, value: (fields: Fields) => T, otherwise: T): T => {
  const fields = fieldsOf(message)
  let found = otherwise
  for (let field = fields.next(); field > 0; field = fields.next()) if (field === number) found = value(fields)
  return found
}

const bytesIn = (message: Buffer, number: number) => only(message, number, (fields) => fields.bytes(), NOTHING)
const textIn = (message: Buffer, number: number) => bytesIn(message, number).toString()

/** Of the metadata of the server's own: the type, and others. */
const typeOf = (entries: readonly Buffer[]) => {
  const entry = entries.find((each) => textIn(each, 1) === 'type')
  return entry ? textIn(entry, 2) : ''
}

/** `ReadResp.ReadEvent.RecordedEvent` */
const eventOf = (message: Buffer): SentEvent => {
  let [id, data, metadata]: [Buffer, Buffer, Buffer] = [NOTHING, NOTHING, NOTHING]
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
  const stored = (): Stored => ({
    ...{ stream, revision, position },
    id: textIn(id, 2), // the client asks for ids as texts
    type: typeOf(entries),
    data: data.toString(),
    metadata: metadata.toString(),
  })
  return { stream, position, bytes: data.length + metadata.length, stored }
}

/**
 * `ReadResp`, as the server sent it. The client's own parsing costs more than all else on the way of an event, and it
 * parses metadata, which loses their very text. Linked events do not come: links are not resolved.
 */
export const parseSent = (message: Buffer): Sent => {
  const fields = fieldsOf(message)
  let sent: Sent = {}
  for (let field = fields.next(); field > 0; field = fields.next())
    if (field === 1) {
      const event = bytesIn(fields.bytes(), 1)
      if (event.length > 0) sent = { event: eventOf(event) }
    } else if (field === 2) sent = { isConfirmation: true }
    else if (field === 3) sent = { checkpoint: only(fields.bytes(), 1, (inner) => inner.uint64(), 0n) }
    else if (field === 8) sent = { isCaughtUp: true }
  return sent
}
