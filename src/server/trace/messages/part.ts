import { hash } from 'node:crypto'
import type { Part, PartType } from '../../../contract/message.ts'
import { toolName as normalised } from '../../../transcript/tool-names.ts'
import { factOf } from './facts.ts'

/**
 * A part in the service: its JSON text, and the data that is needed without parsing it. A part may have 200,000 values; as a single
 * text it takes little memory and time.
 */
export type StoredPart = {
  readonly type: PartType
  /** `{"type", "content"?}`. */
  readonly json: string
  /** The normalised name of the tool, for calls only. */
  readonly tool?: string
  /** True for a part of type `text` whose text is not blank. */
  readonly hasText?: true
  /** What the shape of the session needs of it (`facts.ts`). */
  readonly fact?: string
  /** Equal if and only if the JSON texts are equal. */
  readonly digest: string
}

/** A fingerprint of a text. */
export const digestOf = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22)

export const isBlank = (text: string | undefined): boolean => text === undefined || text.trim() === ''

/** Makes a stored part. Leaves out unknown fields of the part itself; its content is kept as it was sent. */
export const storedPart = (part: Part): StoredPart => {
  const { type, content } = part
  const json = JSON.stringify(content === undefined ? { type } : { type, content })
  const tool = part.type === 'tool_call' ? normalised(part.content?.toolName ?? '') : undefined
  const fact = factOf(part, tool ?? '')
  return {
    type,
    json,
    digest: digestOf(json),
    ...(tool === undefined ? {} : { tool }),
    ...(part.type === 'text' && !isBlank(part.content?.text) ? { hasText: true as const } : {}),
    ...(fact === undefined ? {} : { fact }),
  }
}

/** The JSON text of a part in answers, which is the stored text with the part's index in its message, in two pieces. */
export const partTexts = (text: string, index: number): [string, string] => [`{"order":${index},`, text.slice(1)]

/** The JSON text of a part in answers, in one piece. */
export const partText = (text: string, index: number): string => partTexts(text, index).join('')

/** The size of `partText` in bytes. */
export const partTextBytes = (text: string, index: number): number => Buffer.byteLength(text) + 9 + String(index).length
