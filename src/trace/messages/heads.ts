import { PartType } from '../../contract/message.ts'
import { type StoredPart, digestOf, isBlank } from './part.ts'

/** What is asked of a message's text without reading it: its characters, and whether it says anything. */
export type TextHead = { readonly length: number; readonly isBlank: boolean; readonly digest: string }

/** The type of a part; `blank` for a text that says nothing. */
export const PART_KINDS = [...PartType.options, 'blank'] as const
export type PartKind = (typeof PART_KINDS)[number]

/** What is asked of all parts of a message together. `length` is that of their JSON texts, `kinds` are the different ones, sorted. */
export type PartsHead = {
  readonly count: number
  readonly length: number
  readonly kinds: readonly PartKind[]
  readonly digest: string
}

export const NO_PARTS: PartsHead = { count: 0, length: 0, kinds: [], digest: '' }

/** As UTF-8 all lone surrogates are alike: such a text has a digest of another form. */
const digestOfText = (text: string): string =>
  text.isWellFormed() ? digestOf(text) : `json-${digestOf(JSON.stringify(text))}`

export const headOfText = (text: string): TextHead => ({
  length: text.length,
  isBlank: isBlank(text),
  digest: digestOfText(text),
})

/** What is kept of one part: the digests of all parts make that of the message. */
export type PartHead = Pick<StoredPart, 'digest'> & { readonly kind: PartKind; readonly length: number }

export const headOfPart = ({ type, json, digest, speaks }: StoredPart): PartHead => ({
  kind: type === 'text' && !speaks ? 'blank' : type,
  length: json.length,
  digest,
})

/** The head of a message's parts from those of each; the digest of one part stands for itself. */
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

// In the read models a head is a line of words: it is shorter than JSON, and read faster.

export const textHeadLine = ({ length, isBlank, digest }: TextHead): string =>
  `${length} ${isBlank ? 'blank' : 'text'} ${digest}`

export const readTextHead = (line: string): TextHead => {
  const [length, kind, digest] = line.split(' ') as [string, string, string]
  return { length: Number(length), isBlank: kind === 'blank', digest }
}

/** The kinds of all parts and their digest; count and length stand beside it. */
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
