import { z } from 'zod'
import { ShortText } from '../http/keys.ts'
import { isDeeperThan, isNegativeZero, isRawNumber } from '../json/exact.ts'

const MAX_DEPTH = 500

/** Any JSON object, not nested deeper than can be written out again. */
const Args = z
  .custom<Record<string, unknown>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value),
    { error: 'must be an object' },
  )
  .refine((value) => !isDeeperThan(value, MAX_DEPTH), { error: `must not be nested deeper than ${MAX_DEPTH} levels` })
  .meta({ type: 'object', additionalProperties: true })

/** A plain number: an integer beyond 2^53 is refused, but for the sign of a zero (readings: Messages). */
export const PlainNumber = z
  .custom<number>((value) => typeof value === 'number' || isNegativeZero(value), { error: 'must be a number' })
  .meta({ type: 'number' })

const contentWith = (name: z.ZodType<string>) => ({
  text: z.object({ text: z.string(), durationMs: PlainNumber.optional() }),
  tool_call: z.object({ callId: name, toolName: name, args: Args }),
  tool_result: z.object({
    callId: name,
    toolName: name,
    output: z.string(),
    status: z.enum(['success', 'error']),
  }),
  error: z.object({ message: z.string() }),
})

const partWith = (name: z.ZodType<string>) => {
  const content = contentWith(name)
  return z.discriminatedUnion('type', [
    z.object({ type: z.literal('text'), content: content.text.optional() }),
    z.object({ type: z.literal('thinking'), content: content.text.optional() }),
    z.object({ type: z.literal('tool_call'), content: content.tool_call.optional() }),
    z.object({ type: z.literal('tool_result'), content: content.tool_result.optional() }),
    z.object({ type: z.literal('error'), content: content.error.optional() }),
  ])
}

/** A message's parts and what each type holds (interface: Part). `args` may hold anything. */
export const Part = partWith(z.string()).meta({ id: 'Part' })

/** A part as it may be written: the log holds longer names from before they had a cap. */
export const PartBody = partWith(ShortText).meta({ id: 'PartUpsert' })
export type Part = z.infer<typeof Part>

export const PartType = z.enum(['text', 'thinking', 'tool_call', 'tool_result', 'error'])
export type PartType = z.infer<typeof PartType>

export const MessageRole = z.enum(['user', 'assistant', 'system'])
export type MessageRole = z.infer<typeof MessageRole>
