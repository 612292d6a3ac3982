import protobuf from 'protobufjs/minimal.js'
import type { NewEvent } from '../log.ts'

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

type Reader = protobuf.Reader

/** Calls `take` for each field, which returns false for one that it does not read. Bytes are views of the message, not copies. */
const eachField = (message: Buffer, take: (tag: number, reader: Reader) => boolean): void => {
  const reader = protobuf.Reader.create(message)
  while (reader.pos < reader.len) {
    const tag = reader.uint32()
    if (!take(tag, reader)) reader.skipType(tag & 7)
  }
}

/** The tags of a field that holds bytes, a text or a message, and of one that holds a number. */
const tagOfBytes = (field: number) => field * 8 + 2
const tagOfNumber = (field: number) => field * 8

const bytesOf = (reader: Reader) => reader.bytes() as Buffer

/** An unsigned number of at most 64 bits. */
const uint64Of = (reader: Reader): bigint => {
  const { low, high } = reader.uint64() as { low: number; high: number }
  return high === 0 ? BigInt(low >>> 0) : (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0)
}

/** The value of one field of a message. If it occurs several times the last one counts, as protocol buffers define it. */
const only = <T>(message: Buffer, wanted: number, value: (reader: Reader) => T, otherwise: T): T => {
  let found = otherwise
  eachField(message, (tag, reader) => {
    if (tag !== wanted) return false
    found = value(reader)
    return true
  })
  return found
}

const bytesIn = (message: Buffer, field: number) => only(message, tagOfBytes(field), bytesOf, EMPTY)
const textIn = (message: Buffer, field: number) => bytesIn(message, field).toString()

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
  eachField(message, (tag, reader) => {
    if (tag === tagOfBytes(1)) id = bytesOf(reader)
    else if (tag === tagOfBytes(2)) stream = textIn(bytesOf(reader), 3)
    else if (tag === tagOfNumber(3)) revision = uint64Of(reader)
    else if (tag === tagOfNumber(5)) position = uint64Of(reader)
    else if (tag === tagOfBytes(6)) entries.push(bytesOf(reader))
    else if (tag === tagOfBytes(7)) metadata = bytesOf(reader)
    else if (tag === tagOfBytes(8)) data = bytesOf(reader)
    else return false
    return true
  })
  const stored = (): StoredEvent => ({
    stream,
    revision,
    position,
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
  let response: ReadResponse = {}
  eachField(message, (tag, reader) => {
    if (tag === tagOfBytes(1)) {
      const event = bytesIn(bytesOf(reader), 1)
      if (event.length > 0) response = { event: eventOf(event) }
    } else if (tag === tagOfBytes(3)) response = { checkpoint: only(bytesOf(reader), tagOfNumber(1), uint64Of, 0n) }
    else {
      if (tag === tagOfBytes(2)) response = { isConfirmation: true }
      else if (tag === tagOfBytes(8)) response = { isCaughtUp: true }
      return false
    }
    return true
  })
  return response
}
