import { hash } from 'node:crypto'
import type { Part, PartType } from '../../contract/message.ts'
import { toolName as normalised } from '../../transcript/tool-names.ts'

/**
 * A part as the service holds it: its JSON text, and what is asked of it without parsing that. A part may hold 200,000
 * values; one text costs neither memory nor time to speak of.
 */
export type StoredPart = {
  readonly type: PartType
  /** `{"type", "content"?}`. */
  readonly json: string
  /** The normalised name of the tool; of calls only. */
  readonly tool?: string
  /** Whether it is text, and not blank. */
  readonly speaks?: true
  /** Equal exactly for equal JSON texts. */
  readonly digest: string
}

/** A fingerprint of a text. */
export const digestOf = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22)

export const isBlank = (text: string | undefined): boolean => text === undefined || text.trim() === ''

/** Leaves out members of the part itself that are not known; its content is kept as it came. */
export const storedPart = (part: Part): StoredPart => {
  const { type, content } = part
  const json = JSON.stringify(content === undefined ? { type } : { type, content })
  const stored = { type, json, digest: digestOf(json) }
  if (part.type === 'tool_call') return { ...stored, tool: normalised(part.content?.toolName ?? '') }
  return part.type === 'text' && !isBlank(part.content?.text) ? { ...stored, speaks: true } : stored
}
