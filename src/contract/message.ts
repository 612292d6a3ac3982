import { z } from 'zod'
import { isDeeperThan, isRawNumber } from '../base/json/exact.ts'
import { PlainNumber, id, time } from './fields.ts'
import { Key, ShortText } from './parameters.ts'
import { Usage } from './usage.ts'

/** A message and its parts, in requests and in answers. */

const MAX_DEPTH = 500

/** Any JSON object that is not nested too deeply to be serialized. */
const Args = z
  .custom<Record<string, unknown>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value),
    { error: 'must be an object' },
  )
  .refine((value) => !isDeeperThan(value, MAX_DEPTH), { error: `must not be nested deeper than ${MAX_DEPTH} levels` })
  .meta({
    type: 'object',
    additionalProperties: true,
    description: `The arguments of the call: any JSON object, nested at most ${MAX_DEPTH} levels, stored unchanged`,
  })

const callId = ShortText.meta({
  description: 'The id of the call, which the call and its result share',
  examples: ['call-1'],
})

const toolName = ShortText.meta({ description: 'The name of the tool, as the agent writes it', examples: ['bash'] })

const typed = <Type extends string>(type: Type) =>
  z.literal(type).meta({ description: 'The type of the part, which determines the fields of `content`' })

const content = <Content extends z.ZodType>(shape: Content, description: string) =>
  shape.meta({ description }).optional()

const shapes = {
  text: z.object({
    text: z.string().meta({ description: 'The text' }),
    durationMs: PlainNumber.meta({ description: 'How long writing the text took, in milliseconds' }).optional(),
  }),
  tool_call: z.object({ callId, toolName, args: Args }),
  tool_result: z.object({
    callId,
    toolName,
    output: z.string().meta({ description: 'The output of the tool' }),
    status: z.enum(['success', 'error']).meta({ description: 'Whether the call succeeded' }),
  }),
  error: z.object({ message: z.string().meta({ description: 'What went wrong' }) }),
}

/** A part of a message. `args` may hold any JSON. */
export const Part = z
  .discriminatedUnion('type', [
    z.object({ type: typed('text'), content: content(shapes.text, 'A text') }),
    z.object({ type: typed('thinking'), content: content(shapes.text, 'Thinking of the agent') }),
    z.object({ type: typed('tool_call'), content: content(shapes.tool_call, 'A call of a tool') }),
    z.object({ type: typed('tool_result'), content: content(shapes.tool_result, 'The result of a call of a tool') }),
    z.object({ type: typed('error'), content: content(shapes.error, 'An error that the agent ran into') }),
  ])
  .meta({ id: 'Part', description: 'A part of a message' })
export type Part = z.infer<typeof Part>

export const PartType = z.enum(['text', 'thinking', 'tool_call', 'tool_result', 'error'])
export type PartType = z.infer<typeof PartType>

export const MessageRole = z.enum(['user', 'assistant', 'system'])
export type MessageRole = z.infer<typeof MessageRole>

const role = MessageRole.meta({
  description: 'Who the message is from: the user, the agent (`assistant`), or the system',
})

/** The other fields, in requests and in answers. */
const meanings = {
  externalId: {
    description: 'The id that the client has chosen for the message, unique in its trace; 1 to 1,024 characters',
    examples: ['message-1'],
  },
  textContent: { description: 'The text of the message as a whole', examples: ['Why does the login page fail?'] },
  model: { description: 'The model that wrote the message', examples: ['gpt-5'] },
  order: {
    description: 'The place of the message in its trace, by which lists are sorted; messages without it come last',
    examples: [1],
  },
  timestamp: {
    description: 'When the message was written, as the client has sent it, in milliseconds since 1970',
    examples: [1_767_366_245_000],
  },
}

/** The externalId of a message in an answer. */
export const messageExternalId = z.string().meta(meanings.externalId)

const PART_ORDER = 'The place of the part in its message, from 0'

export const Message = z
  .object({
    id: id('the message'),
    externalId: messageExternalId,
    role,
    textContent: z.string().meta(meanings.textContent).optional(),
    model: z.string().meta(meanings.model).optional(),
    order: PlainNumber.meta(meanings.order).optional(),
    timestamp: PlainNumber.meta(meanings.timestamp).optional(),
    usage: Usage.optional(),
    createdAt: time('When the service first got the message'),
    updatedAt: time('When the message was last changed'),
    parts: z
      .array(z.intersection(z.object({ order: z.int().meta({ description: PART_ORDER, examples: [0] }) }), Part))
      .meta({ description: 'The parts of the message, in order; lists have them only with `includeParts=true`' })
      .optional(),
  })
  .meta({ id: 'Message', description: 'A message of a trace' })
export type Message = z.infer<typeof Message>

export const MOST_PARTS = 2_000

const given = {
  role,
  textContent: z.string().meta(meanings.textContent).optional(),
  model: ShortText.meta(meanings.model).optional(),
  order: PlainNumber.meta(meanings.order).optional(),
  timestamp: PlainNumber.meta(meanings.timestamp).optional(),
  usage: Usage.optional(),
  parts: z
    .array(Part)
    .meta({
      maxItems: MOST_PARTS,
      description:
        `The parts of the message, in order, at most ${MOST_PARTS}. They replace all parts of an existing message, which keeps ` +
        'its parts if this field is absent',
    })
    .optional(),
}

const examplePrompt = { role: 'user', order: 1, textContent: 'Why does the login page fail?' }
const exampleAnswer = {
  role: 'assistant',
  order: 2,
  model: 'gpt-5',
  parts: [
    { type: 'text', content: { text: 'I look at the log first.' } },
    { type: 'tool_call', content: { callId: 'call-1', toolName: 'bash', args: { command: 'tail server.log' } } },
  ],
}

export const MessageUpsert = z.object(given).meta({
  id: 'MessageUpsert',
  description: 'A message. Fields that the body does not have keep their values',
  examples: [examplePrompt],
})

export const BatchItem = z.object({ externalId: Key.meta(meanings.externalId), ...given })
export type BatchItem = z.infer<typeof BatchItem>

const MOST_MESSAGES = 200
export const MOST_BATCH_PARTS = 20_000

const batchOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    messages: z
      .array(item)
      .min(1)
      .max(MOST_MESSAGES)
      .meta({
        description:
          `1 to ${MOST_MESSAGES} messages, which are written in this order, with at most ${MOST_BATCH_PARTS} parts in all. ` +
          'Two entries with the same id are two writes of one message',
      }),
  })

/** A batch whose messages have not been checked yet. */
export const BatchFrame = batchOf(z.unknown())
export type BatchFrame = z.infer<typeof BatchFrame>

export const MessageBatch = batchOf(BatchItem).meta({
  id: 'MessageBatch',
  description: 'Messages of one trace',
  examples: [
    {
      messages: [
        { externalId: 'message-1', ...examplePrompt },
        { externalId: 'message-2', ...exampleAnswer },
      ],
    },
  ],
})
