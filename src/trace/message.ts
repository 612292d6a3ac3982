import { hash } from 'node:crypto'
import { isNegativeZero } from '../json/exact.ts'
import { textOf } from '../json/text.ts'
import type { PatchOperation } from './events.ts'
import type { MessageRole, Part } from './part.ts'

/** A message as it stands: what all its upserts came to. */
export type MessageDocument = {
  readonly role: MessageRole
  readonly textContent?: string
  readonly model?: string
  readonly order?: number
  readonly timestamp?: number
  readonly parts: readonly Part[]
}

/** What a client sends: given fields replace stored ones, absent ones leave them as they are. */
export type MessageUpsert = {
  readonly externalId: string
  readonly given: Omit<MessageDocument, 'parts'> & { readonly parts?: readonly Part[] }
  /** What it makes of no message, and the digest of that. */
  readonly document: MessageDocument
  readonly digest: string
}

const scalars = ['role', 'textContent', 'model', 'order', 'timestamp'] as const

/** A part with its own members only, and in one order: type, content. */
const toPart = ({ type, content }: Part): Part => (content === undefined ? { type } : { type, content }) as Part

/** What a request says of a message, checked but not cleaned. */
export type MessageGiven = { readonly [Key in (typeof scalars)[number]]?: MessageDocument[Key] | undefined } & {
  readonly parts?: readonly Part[] | undefined
}

/** Takes the known members of a request's message; the rest is not stored. */
export const toUpsert = (externalId: string, body: MessageGiven): MessageUpsert => {
  const fields: Record<string, unknown> = {}
  for (const key of scalars) {
    if (Object.hasOwn(body, key) && body[key] !== undefined) fields[key] = isNegativeZero(body[key]) ? 0 : body[key]
  }
  if (Object.hasOwn(body, 'parts') && body.parts) fields.parts = body.parts.map(toPart)
  const given = fields as MessageUpsert['given']
  const document = merge(undefined, given)
  return { externalId, given, document, digest: digestOf(document) }
}

/** What given fields make of a message, or of none. */
export const merge = (document: MessageDocument | undefined, given: MessageUpsert['given']): MessageDocument => ({
  parts: [],
  ...document,
  ...given,
})

/** A fingerprint of a document: equal exactly when every field and every part has the same JSON text. */
export const digestOf = ({ role, textContent, model, order, timestamp, parts }: MessageDocument): string => {
  const fields = JSON.stringify([role, textContent ?? null, model ?? null, order ?? null, timestamp ?? null])
  return hash('sha256', `${fields}${parts.map(textOf).join(',')}`, 'base64url').slice(0, 22)
}

/** What changes one document into another, as RFC 6902: whole fields, and whole parts by position. */
export const difference = (before: MessageDocument, after: MessageDocument): PatchOperation[] => {
  const patch: PatchOperation[] = []
  for (const key of scalars) {
    if (before[key] === after[key]) continue
    patch.push({ op: before[key] === undefined ? 'add' : 'replace', path: `/${key}`, value: after[key] })
  }
  for (const [i, part] of after.parts.entries()) {
    const old = before.parts[i]
    if (!old) patch.push({ op: 'add', path: `/parts/${i}`, value: part })
    else if (textOf(old) !== textOf(part)) patch.push({ op: 'replace', path: `/parts/${i}`, value: part })
  }
  for (let i = before.parts.length - 1; i >= after.parts.length; i--) patch.push({ op: 'remove', path: `/parts/${i}` })
  return patch
}

/** The position in a patch path `/parts/<i>`, or undefined for a field. */
export const partIndex = (path: string): number | undefined =>
  path.startsWith('/parts/') ? Number(path.slice('/parts/'.length)) : undefined

/** Applies a patch that `difference` made. */
export const applyPatch = (document: MessageDocument, patch: readonly PatchOperation[]): MessageDocument => {
  const fields: Record<string, unknown> = { ...document }
  const parts = [...document.parts]
  for (const operation of patch) {
    const index = partIndex(operation.path)
    if (index === undefined) fields[operation.path.slice(1)] = (operation as { value: unknown }).value
    else if (operation.op === 'remove') parts.length = index
    else parts[index] = operation.value as Part
  }
  return { ...fields, parts } as unknown as MessageDocument
}
