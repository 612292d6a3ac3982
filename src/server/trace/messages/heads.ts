import { PartType } from '../../../contract/message.ts'
import { type StoredPart, digestOf, isBlank } from './part.ts'

/** What decisions need of a message's text: its length in characters, whether it is blank, and a digest to compare it. */
export type TextHead = { readonly length: number; readonly isBlank: boolean; readonly digest: string }

/** The types of parts; `blank` for a blank text. */
export const PART_KINDS = [...PartType.options, 'blank'] as const
type PartKind = (typeof PART_KINDS)[number]

/** What decisions need of all parts of a message. `length` is the total length of their JSON texts; `kinds` are distinct and sorted. */
export type PartsHead = {
  readonly count: number
  readonly length: number
  readonly kinds: readonly PartKind[]
  readonly digest: string
}

export const NO_PARTS: PartsHead = { count: 0, length: 0, kinds: [], digest: '' }

/** In UTF-8 all lone surrogates become the same character, so the digest of such a text is made of its JSON text. */
const digestOfText = (text: string): string =>
  text.isWellFormed() ? digestOf(text) : `json-${digestOf(JSON.stringify(text))}`

export const headOfText = (text: string): TextHead => ({
  length: text.length,
  isBlank: isBlank(text),
  digest: digestOfText(text),
})

/** What decisions need of one part. The digest of all parts is made of the digests of each. */
type PartHead = Pick<StoredPart, 'digest'> & { readonly kind: PartKind; readonly length: number }

export const headOfPart = ({ type, json, digest, hasText }: StoredPart): PartHead => ({
  kind: type === 'text' && !hasText ? 'blank' : type,
  length: json.length,
  digest,
})

/** The head of all parts from the heads of each. A single part has its own digest as the digest of all. */
export const joinHeads = (heads: readonly PartHead[]): PartsHead => {
  const [first] = heads
  if (!first) return NO_PARTS
  return {
    count: heads.length,
    length: heads.reduce((sum, { length }) => sum + length, 0),
    kinds: [...new Set(heads.map(({ kind }) => kind))].sort(),
    digest: heads.length === 1 ? first.digest : digestOf(heads.map(({ digest }) => digest).join()),
  }
}

export const headOfParts = (parts: readonly StoredPart[]): PartsHead => joinHeads(parts.map(headOfPart))

// In the read models a head is a line of words, which is shorter than JSON and faster to parse.

export const textHeadLine = ({ length, isBlank, digest }: TextHead): string =>
  `${length} ${isBlank ? 'blank' : 'text'} ${digest}`

export const readTextHead = (line: string): TextHead => {
  const [length, kind, digest] = line.split(' ') as [string, string, string]
  return { length: Number(length), isBlank: kind === 'blank', digest }
}

/** The kinds and the digest of all parts. Their count and length have columns of their own. */
export const partsHeadLine = ({ kinds, digest }: PartsHead): string => `${kinds.join()} ${digest}`

export const readPartsHead = (line: string, count: number, length: number): PartsHead => {
  if (count === 0) return NO_PARTS
  const [kinds, digest] = line.split(' ') as [string, string]
  return { count, length, kinds: kinds.split(',') as PartKind[], digest }
}

export const partHeadLine = ({ kind, length, digest }: PartHead): string => `${length} ${kind} ${digest}`

export const readPartHead = (line: string): PartHead => {
  const [length, kind, digest] = line.split(' ') as [string, PartKind, string]
  return { kind, length: Number(length), digest }
}
