import { z } from 'zod'
import { check, checkEach, nameOf } from '../../http/check.ts'
import { invalid } from '../../http/http-error.ts'
import { parseBody } from '../../http/json-body.ts'
import { Key, ShortText } from '../../contract/parameters.ts'
import { messageMeanings } from '../meanings.ts'
import { type MessageGiven, type MessageUpsert, givenOf, toUpsert } from './message.ts'
import { MessageRole, PartBody, PlainNumber } from './part.ts'

const MOST_PARTS = 2_000

const message = {
  role: MessageRole.meta({ description: 'Who speaks: the user, the agent (`assistant`), or the system' }),
  textContent: z.string().meta(messageMeanings.textContent).optional(),
  model: ShortText.meta(messageMeanings.model).optional(),
  order: PlainNumber.meta(messageMeanings.order).optional(),
  timestamp: PlainNumber.meta(messageMeanings.timestamp).optional(),
  parts: z
    .array(PartBody)
    .meta({
      maxItems: MOST_PARTS,
      description:
        `What the message is made of, in order: at most ${MOST_PARTS} parts. They replace all parts that it had; ` +
        'without this member they stay',
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

export const MessageBody = z.object(message).meta({
  id: 'MessageUpsert',
  description: 'A message. What is not given stays as it is',
  examples: [examplePrompt],
})

const BatchItem = z.object({ externalId: Key.meta(messageMeanings.externalId), ...message })

const MOST_MESSAGES = 200
const MOST_BATCH_PARTS = 20_000

const batchOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    messages: z
      .array(item)
      .min(1)
      .max(MOST_MESSAGES)
      .meta({
        description:
          `1 to ${MOST_MESSAGES} messages, written in this order, with at most ${MOST_BATCH_PARTS} parts in all. ` +
          'The same id twice is two writes of one message',
      }),
  })

export const BatchBody = batchOf(BatchItem).meta({
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

const countParts = (message: unknown): number => {
  const parts = (message as { parts?: unknown } | null | undefined)?.parts
  return Array.isArray(parts) ? parts.length : 0
}

const TOO_MANY_PARTS = `at most ${MOST_PARTS} parts in a message`

const assertFewParts = (messages: readonly unknown[]) => {
  const counts = messages.map(countParts)
  const large = counts.findIndex((count) => count > MOST_PARTS)
  if (large >= 0) throw invalid('messages', `messages[${large}].parts: ${TOO_MANY_PARTS}${nameOf(messages[large])}`)
  const sum = counts.reduce((total, count) => total + count, 0)
  if (sum > MOST_BATCH_PARTS) throw invalid('messages', `at most ${MOST_BATCH_PARTS} parts in a batch`)
}

/**
 * The message of a request to write one; its externalId is in the path. Parts are counted before anything is looked at:
 * each problem of a million of them would be listed otherwise.
 * @throws HttpError invalid_request
 */
export const readMessage = (text: string): Omit<MessageUpsert, 'externalId'> => {
  const body = parseBody(text)
  if (countParts(body) > MOST_PARTS) throw invalid('parts', TOO_MANY_PARTS)
  check(MessageBody, body)
  return givenOf(body as MessageGiven)
}

const BatchFrame = batchOf(z.unknown())

/** The messages of a request to write a batch. @throws HttpError invalid_request */
export const readBatch = (text: string): MessageUpsert[] => {
  const body = parseBody(text)
  const { messages } = check(BatchFrame, body) as z.infer<typeof BatchFrame>
  assertFewParts(messages)
  checkEach('messages', BatchItem, messages)
  return (messages as z.infer<typeof BatchItem>[]).map((item) => toUpsert(item.externalId, item))
}
