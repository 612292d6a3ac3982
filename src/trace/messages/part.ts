import { hash } from 'node:crypto'
import { z } from 'zod'
import { ShortText } from '../../contract/parameters.ts'
import { isDeeperThan, isNegativeZero, isRawNumber } from '../../json/exact.ts'
import { toolName as normalised } from './tool-names.ts'

const MAX_DEPTH = 500

/** Any JSON object, not nested deeper than can be written out again. */
const Args = z
  .custom<Record<string, unknown>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value),
    { error: 'must be an object' },
  )
  .refine((value) => !isDeeperThan(value, MAX_DEPTH), { error: `must not be nested deeper than ${MAX_DEPTH} levels` })
  .meta({
    type: 'object',
    additionalProperties: true,
    description: `What the tool was called with: any JSON object, nested at most ${MAX_DEPTH} levels, kept as it came`,
  })

/** A plain number: an integer beyond 2^53 is refused, but for the sign of a zero. */
export const PlainNumber = z
  .custom<number>((value) => typeof value === 'number' || isNegativeZero(value), { error: 'must be a number' })
  .meta({ type: 'number' })

const callId = (name: z.ZodType<string>) =>
  name.meta({ description: 'The id of the call: a call and its result have the same', examples: ['call-1'] })

const toolName = (name: z.ZodType<string>) =>
  name.meta({ description: 'The name of the tool, as the agent has it', examples: ['bash'] })

const typed = <Type extends string>(type: Type) =>
  z.literal(type).meta({ description: 'The type of the part, which decides what its content is' })

const content = <Content extends z.ZodType>(shape: Content, description: string) =>
  shape.meta({ description }).optional()

const contentWith = (name: z.ZodType<string>) => ({
  text: z.object({
    text: z.string().meta({ description: 'The text' }),
    durationMs: PlainNumber.meta({ description: 'How long it took to write, in milliseconds' }).optional(),
  }),
  tool_call: z.object({ callId: callId(name), toolName: toolName(name), args: Args }),
  tool_result: z.object({
    callId: callId(name),
    toolName: toolName(name),
    output: z.string().meta({ description: 'What the tool gave' }),
    status: z.enum(['success', 'error']).meta({ description: 'Whether the tool did what it was asked to' }),
  }),
  error: z.object({ message: z.string().meta({ description: 'What went wrong' }) }),
})

const partWith = (name: z.ZodType<string>) => {
  const shapes = contentWith(name)
  return z.discriminatedUnion('type', [
    z.object({ type: typed('text'), content: content(shapes.text, 'What was said') }),
    z.object({ type: typed('thinking'), content: content(shapes.text, 'What the agent thought') }),
    z.object({ type: typed('tool_call'), content: content(shapes.tool_call, 'A call of a tool') }),
    z.object({ type: typed('tool_result'), content: content(shapes.tool_result, 'What a tool gave for a call') }),
    z.object({ type: typed('error'), content: content(shapes.error, 'An error that the agent met') }),
  ])
}

/** A message's parts and what each type holds. `args` may hold anything. */
export const Part = partWith(z.string()).meta({ id: 'Part', description: 'A part of a message' })

/** A part as it may be written: the log holds longer names from before they had a cap. */
export const PartBody = partWith(ShortText).meta({ id: 'PartUpsert', description: 'A part of a message' })
export type Part = z.infer<typeof Part>

export const PartType = z.enum(['text', 'thinking', 'tool_call', 'tool_result', 'error'])
export type PartType = z.infer<typeof PartType>

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

export const MessageRole = z.enum(['user', 'assistant', 'system'])
export type MessageRole = z.infer<typeof MessageRole>
