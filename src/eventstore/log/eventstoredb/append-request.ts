import protobuf from 'protobufjs/minimal.js'
import { isId } from '../../../base/ids.ts'
import type { ExpectedRevision, NewEvent } from '../log.ts'

/** An encoded event: a message `AppendReq` with a proposed message. */
export type ProposedEvent = Buffer

const assertText = (what: string, text: unknown) => {
  if (typeof text !== 'string' || !text.isWellFormed()) throw new TypeError(`${what} must be a well-formed text`)
}

/** Parses the text, as PostgreSQL does on insert. Not needed for texts that this process has serialised. */
const assertJson = (what: string, text: string) => {
  assertText(what, text)
  JSON.parse(text)
}

const assertEvent = ({ id, type, data, metadata, decoded }: NewEvent) => {
  if (typeof id !== 'string' || !isId(id)) throw new TypeError('the id of an event must be a UUID in lower case')
  assertText('the type of an event', type)
  if (type === '' || type.includes('\0')) throw new TypeError('the type of an event must not be empty or contain NUL')
  const assert = decoded ? assertText : assertJson
  assert('the data of an event', data)
  assert('the metadata of an event', metadata)
}

/** The tag of a field that holds bytes, a text or a message. */
const tag = (field: number) => field * 8 + 2

/** An entry of a map of texts. */
const writeEntry = (writer: protobuf.Writer, field: number, key: string, value: string) =>
  writer.uint32(tag(field)).fork().uint32(tag(1)).string(key).uint32(tag(2)).string(value).ldelim()

const encoded = (writer: protobuf.Writer) => writer.finish() as Buffer

/** `AppendReq.ProposedMessage` */
const proposed = ({ id, type, data, metadata }: NewEvent, contentType: string): ProposedEvent => {
  const writer = protobuf.Writer.create()
  writer.uint32(tag(2)).fork().uint32(tag(1)).fork().uint32(tag(2)).string(id).ldelim()
  writeEntry(writer, 2, 'type', type)
  writeEntry(writer, 2, 'content-type', contentType)
  if (metadata !== '') writer.uint32(tag(3)).string(metadata)
  return encoded(writer.uint32(tag(4)).string(data).ldelim())
}

/**
 * Encodes an event. The server stores the bytes of texts unchanged; their content type is binary, so that no other client parses and
 * rewrites them. The client's own encoder takes several times as long, and copies them four times.
 * @throws TypeError for texts that UTF-8 or the server cannot store
 * @throws SyntaxError for data or metadata that is not JSON
 */
export const proposedEvent = (event: NewEvent): ProposedEvent => {
  assertEvent(event)
  return proposed(event, 'application/octet-stream')
}

/** Encodes an event that the server itself reads, such as a stream's metadata. */
export const proposedSystemEvent = (id: string, type: string, data: object): ProposedEvent =>
  proposed({ id, type, data: JSON.stringify(data), metadata: '' }, 'application/json')

/**
 * The message before the events: the full name of the stream, and the expected revision. Never "any revision", because after a
 * restart of the server a repeated append would be stored twice.
 */
export const appendOptions = (stream: string, expected: ExpectedRevision): Buffer => {
  const writer = protobuf.Writer.create()
  writer.uint32(tag(1)).fork().uint32(tag(1)).fork().uint32(tag(3)).string(stream).ldelim()
  if (expected === 'none') writer.uint32(tag(3)).fork().ldelim()
  else writer.uint32(2 * 8).uint64(String(expected))
  return encoded(writer.ldelim())
}
