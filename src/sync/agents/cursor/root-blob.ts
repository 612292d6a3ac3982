import { createRequire } from 'node:module'
import type * as Protobuf from 'protobufjs/minimal.js'

/** Loaded when the first blob is read: a sync without such sessions does not need it. */
const require = createRequire(import.meta.url)
const readerOf = (data: Uint8Array): Protobuf.Reader =>
  (require('protobufjs/minimal.js') as typeof Protobuf).Reader.create(data)

/** The state of a session, from its root blob (README, rule 13). */
export type Root = {
  /** The ids of the messages, in order. */
  readonly messages: readonly string[]
  /** The `file:` address of the folder in which the agent works. */
  readonly folder: string | undefined
  readonly branch: string | undefined
}

/** A field of a protobuf message whose value is bytes. */
type Field = { readonly number: number; readonly value: Buffer }

const ID_BYTES = 32
const FIELDS = { message: 1, folder: 9, repository: 21 } as const
const REPOSITORY = { path: 1, branch: 2 } as const

/** The fields of a protobuf message that hold bytes; undefined if the data are not such a message. */
const fieldsOf = (data: Uint8Array): readonly Field[] | undefined => {
  const reader = readerOf(data)
  const fields: Field[] = []
  try {
    while (reader.pos < reader.len) {
      const tag = reader.uint32()
      if (tag % 8 === 2) fields.push({ number: tag >>> 3, value: Buffer.from(reader.bytes()) })
      else reader.skipType(tag % 8)
    }
    return fields
  } catch {
    return undefined
  }
}

const textIn = (fields: readonly Field[], number: number): string | undefined =>
  fields.find((field) => field.number === number)?.value.toString('utf8')

/** The root in the bytes of a blob; undefined if they are anything else, or name no message. */
export const readRoot = (bytes: Uint8Array): Root | undefined => {
  const fields = fieldsOf(bytes)
  const messages = fields?.filter(({ number }) => number === FIELDS.message).map(({ value }) => value) ?? []
  if (!fields || messages.length === 0 || messages.some(({ length }) => length !== ID_BYTES)) return undefined
  const repository = fields.find(({ number }) => number === FIELDS.repository)
  const described = (repository && fieldsOf(repository.value)) ?? []
  return {
    messages: messages.map((id) => id.toString('hex')),
    folder: textIn(fields, FIELDS.folder),
    branch: textIn(described, REPOSITORY.path) === undefined ? undefined : textIn(described, REPOSITORY.branch),
  }
}
