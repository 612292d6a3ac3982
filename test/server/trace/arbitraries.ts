import fc from 'fast-check'
import { type MessageDocument, type MessageUpsert, toUpsert } from '../../../src/server/trace/messages/message.ts'
import type { Part } from '../../../src/contract/message.ts'

const odd = fc.constantFrom('', 'plain', 'a\0b', '\ud800', '🙂', '{"x":1}', ' \n', '\\u0000')
const callId = fc.constantFrom('c1', 'c2')
const toolName = fc.constantFrom('Bash', 'read_file', 'mcp__x__y', '\0')

/** Parts of every type, with texts that Postgres text could not hold. */
export const part: fc.Arbitrary<Part> = fc.oneof(
  odd.map((text): Part => ({ type: 'text', content: { text } })),
  odd.map((text): Part => ({ type: 'thinking', content: { text, durationMs: 3 } })),
  fc
    .record({ callId, toolName, args: fc.dictionary(odd, fc.oneof(odd, fc.integer(), fc.constant(null))) })
    .map((content): Part => ({ type: 'tool_call', content })),
  fc
    .record({ callId, toolName, output: odd, status: fc.constantFrom('success' as const, 'error' as const) })
    .map((content): Part => ({ type: 'tool_result', content })),
  odd.map((message): Part => ({ type: 'error', content: { message } })),
  fc.constant<Part>({ type: 'text' }),
)

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 })

const usage = fc.constantFrom(
  { inputTokens: 3, outputTokens: 1, responseId: 'msg_1' },
  { outputTokens: 1 },
  { costUsd: 0.5, outputTokens: 2 },
)

/** Upserts of a handful of messages, so that many of them meet. */
export const upsert: fc.Arbitrary<MessageUpsert> = fc
  .record({
    externalId: fc.constantFrom('m1', 'm2', 'm3', 'm4', '🙂'),
    role: fc.constantFrom('user' as const, 'assistant' as const, 'system' as const),
    textContent: optional(odd),
    model: optional(odd),
    order: optional(fc.constantFrom(0, 1, -1.5, 2 ** 53 - 1, 1e300)),
    timestamp: optional(fc.integer()),
    usage: optional(usage),
    parts: optional(fc.array(part, { maxLength: 4 })),
  })
  .map(({ externalId, ...body }) => toUpsert(externalId, body))

/** What given fields make of a message, or of none. */
export const merge = (document: MessageDocument | undefined, given: MessageUpsert['given']): MessageDocument => ({
  parts: [],
  ...document,
  ...given,
})

export type Step =
  | { readonly do: 'put'; readonly title: string | undefined; readonly visibility: 'private' | 'public' | undefined }
  | { readonly do: 'write'; readonly upserts: readonly MessageUpsert[] }
  | { readonly do: 'delete' }

/** What clients may do to one trace, in any order. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('put' as const),
      title: optional(odd),
      visibility: optional(fc.constantFrom('private' as const, 'public' as const)),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('write' as const),
      upserts: fc.array(upsert, { minLength: 1, maxLength: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'delete' as const }) },
)
