import { isNegativeZero } from '../../../base/json/exact.ts'
import type { PatchOperation } from '../../../base/json/patch-operation.ts'
import { type PartsHead, type TextHead, headOfParts, headOfText } from './heads.ts'
import type { MessageHead, PartDigests } from './loaded.ts'
import type { MessageRole, Part } from '../../../contract/message.ts'
import { type Usage, normalUsage } from '../../../contract/usage.ts'
import { type StoredPart, storedPart } from './part.ts'

/** A message, as it is after all its upserts. */
export type MessageDocument = {
  readonly role: MessageRole
  readonly textContent?: string
  readonly model?: string
  readonly order?: number
  readonly timestamp?: number
  /** As `normalUsage` gives it. */
  readonly usage?: Usage
  readonly parts: readonly StoredPart[]
}

/** An upsert from a client: given fields replace stored ones, absent fields do not change them. */
export type MessageUpsert = {
  readonly externalId: string
  readonly given: GivenMessageFields
  readonly heads: MessageHeads
}

/** The heads of text and parts. They are computed where the text is parsed, so that decisions do not read it again. */
export type MessageHeads = { readonly text?: TextHead; readonly parts?: PartsHead }

type GivenMessageFields = Omit<MessageDocument, 'parts'> & { readonly parts?: readonly StoredPart[] }

const scalars = ['role', 'textContent', 'model', 'order', 'timestamp'] as const
const fields = [...scalars, 'usage'] as const

type MessageTexts = { readonly textContent?: string | undefined; readonly parts?: readonly StoredPart[] }

/** A validated message in a request, which may have unknown fields as well. */
export type MessageInRequest = { readonly [Key in (typeof fields)[number]]?: MessageDocument[Key] | undefined } & {
  readonly parts?: readonly Part[] | undefined
}

/** The known fields of a message in a request, with the heads of its text and parts. Unknown fields are not stored. */
export const fieldsAndHeadsOf = (body: MessageInRequest): Omit<MessageUpsert, 'externalId'> => {
  const known: Record<string, unknown> = {}
  for (const key of scalars) {
    if (Object.hasOwn(body, key) && body[key] !== undefined) known[key] = isNegativeZero(body[key]) ? 0 : body[key]
  }
  if (Object.hasOwn(body, 'usage') && body.usage) known.usage = normalUsage(body.usage)
  if (Object.hasOwn(body, 'parts') && body.parts) known.parts = body.parts.map(storedPart)
  const given = known as GivenMessageFields
  return { given, heads: headsOf(given) }
}

export const headsOf = ({ textContent, parts }: MessageTexts): MessageHeads => ({
  ...(textContent === undefined ? {} : { text: headOfText(textContent) }),
  ...(parts === undefined ? {} : { parts: headOfParts(parts) }),
})

export const toUpsert = (externalId: string, body: MessageInRequest): MessageUpsert => ({
  externalId,
  ...fieldsAndHeadsOf(body),
})

/** Whether a field has the same value in two documents. */
const isSameValue = (one: string | number | Usage | undefined, other: string | number | Usage | undefined): boolean =>
  one === other ||
  (typeof one === 'object' && typeof other === 'object' && JSON.stringify(one) === JSON.stringify(other))

/** The patch (RFC 6902) from one document to another. It replaces whole fields, and whole parts by index. */
export const difference = (before: MessageDocument, after: MessageDocument): PatchOperation[] => {
  const patch: PatchOperation[] = []
  for (const key of fields) {
    if (isSameValue(before[key], after[key])) continue
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

/** Whether a field is given and differs from the stored one. */
const isChanged = (before: MessageHead, { given, heads }: MessageUpsert, key: (typeof fields)[number]): boolean => {
  if (given[key] === undefined) return false
  return key === 'textContent' ? before.text?.digest !== heads.text!.digest : !isSameValue(before[key], given[key])
}

/**
 * The patch of an upsert, like `difference`, but computed from heads alone. If the parts differ, `digests` has to have those of
 * the stored parts, at least as many as parts are given.
 */
export const patchOf = (
  before: MessageHead,
  digests: PartDigests | undefined,
  upsert: MessageUpsert,
): PatchOperation[] => {
  const { given, heads } = upsert
  const patch: PatchOperation[] = []
  for (const key of fields) {
    if (!isChanged(before, upsert, key)) continue
    const old = key === 'textContent' ? before.text : before[key]
    patch.push({ op: old === undefined ? 'add' : 'replace', path: `/${key}`, value: given[key] })
  }
  if (!given.parts || heads.parts!.digest === before.parts.digest) return patch
  const { count } = before.parts
  if ((digests?.length ?? 0) < Math.min(count, given.parts.length))
    throw new Error(`the digests of the parts of ${upsert.externalId} were not loaded`)
  for (const [i, part] of given.parts.entries()) {
    if (i >= count) patch.push({ op: 'add', path: `/parts/${i}`, value: part })
    else if (digests![i] !== part.digest) patch.push({ op: 'replace', path: `/parts/${i}`, value: part })
  }
  for (let i = count - 1; i >= given.parts.length; i--) patch.push({ op: 'remove', path: `/parts/${i}` })
  return patch
}

/** The index in a patch path `/parts/<i>`, or undefined for a field. */
export const partIndex = (path: string): number | undefined =>
  path.startsWith('/parts/') ? Number(path.slice('/parts/'.length)) : undefined

/** The operation of a patch that sets the timestamp, if any. A timestamp is never removed. */
export const timestampIn = (patch: readonly PatchOperation[]) =>
  patch.find((operation): operation is Exclude<PatchOperation, { op: 'remove' }> => operation.path === '/timestamp')

/** Whether a patch changes nothing but the usage: then message and trace keep their `updatedAt`, which says when their content has changed. */
export const isOfUsage = (patch: readonly PatchOperation[]): boolean => patch.every(({ path }) => path === '/usage')

/** Applies a patch that `difference` made. */
export const applyPatch = (document: MessageDocument, patch: readonly PatchOperation[]): MessageDocument => {
  const changed: Record<string, unknown> = { ...document }
  const parts = [...document.parts]
  for (const operation of patch) {
    const index = partIndex(operation.path)
    if (index === undefined) changed[operation.path.slice(1)] = (operation as { value: unknown }).value
    else if (operation.op === 'remove') parts.length = index
    else parts[index] = operation.value as StoredPart
  }
  return { ...changed, parts } as unknown as MessageDocument
}
