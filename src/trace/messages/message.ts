import { hash } from 'node:crypto'
import { isNegativeZero } from '../../json/exact.ts'
import type { PatchOperation } from '../events.ts'
import { type MessageRole, type Part, type StoredPart, storedPart } from './part.ts'

/** A message as it stands: what all its upserts came to. */
export type MessageDocument = {
  readonly role: MessageRole
  readonly textContent?: string
  readonly model?: string
  readonly order?: number
  readonly timestamp?: number
  readonly parts: readonly StoredPart[]
}

/** What a client sends: given fields replace stored ones, absent ones leave them as they are. */
export type MessageUpsert = {
  readonly externalId: string
  readonly given: GivenMessageFields
  /** The digest of the message that this upsert creates where there is none yet. */
  readonly digest: string
}

type GivenMessageFields = Omit<MessageDocument, 'parts'> & { readonly parts?: readonly StoredPart[] }

const scalars = ['role', 'textContent', 'model', 'order', 'timestamp'] as const

/** What a request says of a message, checked but not cleaned. */
export type MessageGiven = { readonly [Key in (typeof scalars)[number]]?: MessageDocument[Key] | undefined } & {
  readonly parts?: readonly Part[] | undefined
}

/** Takes the known members of a request's message; the rest is not stored. */
export const givenOf = (body: MessageGiven): Omit<MessageUpsert, 'externalId'> => {
  const fields: Record<string, unknown> = {}
  for (const key of scalars) {
    if (Object.hasOwn(body, key) && body[key] !== undefined) fields[key] = isNegativeZero(body[key]) ? 0 : body[key]
  }
  if (Object.hasOwn(body, 'parts') && body.parts) fields.parts = body.parts.map(storedPart)
  const given = fields as GivenMessageFields
  return { given, digest: digestOf(merge(undefined, given)) }
}

export const toUpsert = (externalId: string, body: MessageGiven): MessageUpsert => ({ externalId, ...givenOf(body) })

/** What given fields make of a message, or of none. */
export const merge = (document: MessageDocument | undefined, given: GivenMessageFields): MessageDocument => ({
  parts: [],
  ...document,
  ...given,
})

/** The JSON texts of parts, joined by commas. */
export const jsonOf = (parts: readonly StoredPart[]): string => parts.map(({ json }) => json).join(',')

/** A fingerprint of a document: equal exactly when every field and every part has the same JSON text. */
export const digestOf = ({ role, textContent, model, order, timestamp, parts }: MessageDocument): string => {
  const fields = JSON.stringify([role, textContent ?? null, model ?? null, order ?? null, timestamp ?? null])
  return hash('sha256', `${fields}${jsonOf(parts)}`, 'base64url').slice(0, 22)
}

/** What changes one document into another, as RFC 6902: whole fields, and whole parts by index. */
export const difference = (before: MessageDocument, after: MessageDocument): PatchOperation[] => {
  const patch: PatchOperation[] = []
  for (const key of scalars) {
    if (before[key] === after[key]) continue
    patch.push({ op: before[key] === undefined ? 'add' : 'replace', path: `/${key}`, value: after[key] })
  }
  for (const [i, part] of after.parts.entries()) {
    const old = before.parts[i]
    if (!old) patch.push({ op: 'add', path: `/parts/${i}`, value: part })
    else if (old.json !== part.json) patch.push({ op: 'replace', path: `/parts/${i}`, value: part })
  }
  for (let i = before.parts.length - 1; i >= after.parts.length; i--) patch.push({ op: 'remove', path: `/parts/${i}` })
  return patch
}

/** The index in a patch path `/parts/<i>`, or undefined for a field. */
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
    else parts[index] = operation.value as StoredPart
  }
  return { ...fields, parts } as unknown as MessageDocument
}
