import { type EventFormat, formatsOf } from '../../eventstore/engine/codec.ts'
import type { PatchOperation } from '../../base/json/patch-operation.ts'
import { TraceEvent } from './events.ts'
import { headsOf, partIndex } from './messages/message.ts'
import type { Part } from '../../contract/message.ts'
import { type StoredPart, storedPart } from './messages/part.ts'

type WithParts<P> = { readonly parts: readonly P[] }
type WithPatch = { readonly patch: readonly PatchOperation[] }

/** Writes data whose last member is a list of JSON texts. Everything is joined at once, because the result of `+` would be copied again when it is read. */
const writeHead = (head: object, member: string, items: readonly string[]) => {
  const texts = items.length === 0 ? [''] : [...items]
  texts[0] = `${JSON.stringify(head).slice(0, -1)},"${member}":[${texts[0]}`
  texts.push(`${texts.pop()}]}`)
  return texts.join()
}

type SetsValue = Exclude<PatchOperation, { readonly op: 'remove' }>

const setsPart = (operation: PatchOperation): operation is SetsValue =>
  operation.op !== 'remove' && partIndex(operation.path) !== undefined

const writeOperation = (operation: PatchOperation): string => {
  if (!setsPart(operation)) return JSON.stringify(operation)
  const { op, path, value } = operation
  return `{"op":"${op}","path":"${path}","value":${(value as StoredPart).json}}`
}

/** A patch of a message as JSON text. */
export const patchText = (patch: readonly PatchOperation[]): string => `[${patch.map(writeOperation).join(',')}]`

const readOperation = (operation: PatchOperation): PatchOperation =>
  setsPart(operation) ? { ...operation, value: storedPart(operation.value as Part) } : operation

/**
 * Replaces the texts of parts by slices of the data that ends with them. Both are in memory until all followers have read the event, and a slice
 * takes no memory of its own.
 */
const shareText = (data: string, parts: readonly StoredPart[]): string => {
  let end = data.length - 1
  for (const part of parts.toReversed()) {
    end -= 1 + part.json.length
    ;(part as { json: string }).json = data.slice(end, end + part.json.length)
  }
  return data
}

/** Parts are stored as JSON text, and are not parsed when they are read. */
const added = {
  write: ({ parts, heads: _, ...head }: WithParts<StoredPart> & { heads?: unknown }) => {
    const items = parts.map(({ json }) => json)
    return shareText(writeHead(head, 'parts', items), parts)
  },
  read: ({ parts, ...head }: WithParts<Part> & { readonly textContent?: string }) => {
    const stored = parts.map(storedPart)
    return { ...head, heads: headsOf({ ...head, parts: stored }), parts: stored }
  },
}
const updated = {
  write: ({ patch, ...head }: WithPatch) => writeHead(head, 'patch', patch.map(writeOperation)),
  read: ({ patch, ...head }: WithPatch) => ({ ...head, patch: patch.map(readOperation) }),
}

const plain = formatsOf(TraceEvent)

/** How the events of traces are written and read. */
export const traceFormats: Readonly<Record<string, EventFormat>> = {
  ...plain,
  MessageAdded: {
    ...plain.MessageAdded!,
    version: 2,
    ...(added as Pick<EventFormat, 'read' | 'write'>),
  },
  MessageRestated: { ...plain.MessageRestated!, ...(added as Pick<EventFormat, 'read' | 'write'>) },
  MessageUpdated: {
    ...plain.MessageUpdated!,
    version: 2,
    ...(updated as Pick<EventFormat, 'read' | 'write'>),
  },
}
