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

/** The varint that begins at `from`, and where it ends; undefined where there is none. */
const varintAt = (data: Buffer, from: number): { readonly value: number; readonly end: number } | undefined => {
  let value = 0
  for (let i = 0; i < 10 && from + i < data.length; i++) {
    const byte = data[from + i]!
    value += (byte & 0x7f) * 2 ** (7 * i)
    if (byte < 0x80) return { value, end: from + i + 1 }
  }
  return undefined
}

/** Where the value of a field of a numeric type ends; undefined for unknown types. */
const endOfNumber = (data: Buffer, from: number, type: number): number | undefined => {
  switch (type) {
    case 0:
      return varintAt(data, from)?.end
    case 1:
      return from + 8
    case 5:
      return from + 4
    default:
      return undefined
  }
}

/** The fields of a protobuf message that hold bytes; undefined where the data are not such a message. */
const fieldsOf = (data: Buffer): readonly Field[] | undefined => {
  const fields: Field[] = []
  let at: number | undefined = 0
  while (at < data.length) {
    const key = varintAt(data, at)
    if (!key) return undefined
    const type = key.value % 8
    const length = type === 2 ? varintAt(data, key.end) : undefined
    at = length ? length.end + length.value : endOfNumber(data, key.end, type)
    if (at === undefined || at > data.length) return undefined
    if (length) fields.push({ number: Math.floor(key.value / 8), value: data.subarray(length.end, at) })
  }
  return fields
}

const textIn = (fields: readonly Field[], number: number): string | undefined =>
  fields.find((field) => field.number === number)?.value.toString('utf8')

/** The root in the bytes of a blob; undefined where they are anything else, or name no message. */
export const readRoot = (bytes: Uint8Array): Root | undefined => {
  const fields = fieldsOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
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
