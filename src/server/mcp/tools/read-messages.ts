import { z } from 'zod'
import type { TraceDetail } from '../../../contract/trace.ts'
import type { Part } from '../../../transcript/message.ts'
import { ownText } from '../../../transcript/turns.ts'
import { type Answer, answerFields } from '../answer.ts'
import { type Quoter, cutText, nameText, newQuoter, quotedWith } from '../quoted.ts'
import { type TimedMessage, readTimed } from '../read-all.ts'
import { Place, linkOf, placeOf, sessionArguments } from '../session.ts'
import type { Entry, Sessions } from '../sessions.ts'
import { InvalidCall, type Tool } from '../tool.ts'

const MOST_MESSAGES = 40
const MOST_PARTS = 200
const MOST_PART_BYTES = 4 * 1024
/** The approximate number of bytes of all parts together: of many parts, less of each is shown. */
const MOST_BYTES = 64 * 1024

const input = z.object({
  ...sessionArguments,
  message: z.string().min(1).max(1_024).optional().meta({
    description:
      'The id of a message, such as that of a hit: the messages around it are read. Default: from the first one on',
  }),
  limit: z.int().min(1).max(MOST_MESSAGES).default(10),
  cursor: z.string().max(1_000).optional().meta({ description: 'The `nextCursor` of the answer before' }),
  part: z.int().min(-1).optional().meta({
    description: 'Together with `message`: only this part of it, from `offset` on, for the rest of a part that was cut',
  }),
  offset: z.int().min(0).default(0),
})
type Given = z.output<typeof input>

const Quotation = quotedWith({
  message: z.string().meta({ description: 'The id of the message' }),
  part: z.int().meta({ description: 'The place of the part in its message; -1 for a text beside the parts' }),
  type: z.enum(['text', 'thinking', 'tool_call', 'tool_result', 'error']),
  tool: z
    .string()
    .optional()
    .meta({ description: 'The tool that was called; then `text` is its arguments, or its output' }),
  failed: z.boolean().optional(),
  text: z.string(),
  rest: z
    .object({ offset: z.int(), characters: z.int() })
    .optional()
    .meta({ description: 'The part is cut: read its rest with `message`, `part` and this `offset`' }),
})
type Quotation = z.infer<typeof Quotation>

const output = z.object({
  about: Place,
  parts: z.array(Quotation).meta({ description: 'The parts of the messages, in order' }),
  messages: z.int().meta({ description: 'How many messages these are' }),
  nextCursor: z.string().optional(),
  ...answerFields,
})

/** A part of a message, with its index there. */
type PartInMessage = { readonly message: TimedMessage; readonly part: Part; readonly index: number }

const partsOf = (message: TimedMessage): PartInMessage[] => [
  ...ownText(message).map((part) => ({ message, part, index: -1 })),
  ...message.parts.map((part, index) => ({ message, part, index })),
]

const contentOf = (part: Part) => {
  switch (part.type) {
    case 'text':
    case 'thinking':
      return { type: part.type, text: part.text }
    case 'tool_call':
      return { type: part.type, tool: nameText(part.toolName), text: part.args }
    case 'tool_result':
      return { type: part.type, tool: nameText(part.toolName), failed: part.failed, text: part.output }
    case 'error':
      return { type: part.type, text: part.message }
  }
}

const quotation = (
  { quoteMessage, quote }: Quoter,
  { message, part, index }: PartInMessage,
  from: number,
  most: number,
): Quotation => {
  const content = contentOf(part)
  const { text, end } = cutText(content.text, from, most)
  const left = content.text.length - end
  const rest = left > 0 ? { rest: { offset: end, characters: left } } : {}
  const quoted = { message: message.externalId, part: index, ...content, text, ...rest }
  // The output of a tool is in a message of the user, who has not written it.
  if (part.type === 'tool_result') return quote('tool', part.toolName, message.timestamp, quoted)
  return quoteMessage(part.type === 'error' ? 'system' : message.role, message.timestamp, quoted)
}

type Page = {
  readonly entry: Entry<TraceDetail>
  readonly messages: readonly TimedMessage[]
  readonly nextCursor?: string | undefined
}

const read = async (sessions: Sessions, given: Given): Promise<Page> => {
  const { session: externalId, namespace, message: around, limit, cursor, part } = given
  const entry = await sessions.get({ externalId, namespace })
  const name = { externalId, namespace: entry.slug }
  const page = await sessions.messages(name, { around, cursor, limit: part === undefined ? limit : 1 })
  const messages: TimedMessage[] = []
  for (const stored of page.messages) messages.push(await readTimed(sessions, stored))
  return { entry, messages, nextCursor: page.nextCursor }
}

const answerOf = (
  sessions: Sessions,
  { entry, messages, nextCursor }: Page,
  parts: readonly Quotation[],
  intro: string,
  leftOut: readonly string[],
) =>
  ({
    intro,
    leftOut,
    content: {
      about: placeOf(entry),
      parts: [...parts],
      messages: messages.length,
      ...(nextCursor === undefined ? {} : { nextCursor }),
    },
    quotes: parts,
    links: messages.map(({ externalId }, i) => ({
      uri: linkOf(sessions, entry, externalId),
      name: `message ${i + 1}`,
    })),
  }) satisfies Answer

/** The answer with one part, from `offset` on. */
const readPart = (sessions: Sessions, page: Page, { part, offset }: Given) => {
  const placed = page.messages.flatMap(partsOf).find(({ index }) => index === part)
  if (!placed)
    throw new InvalidCall(`The message has no part ${part}: use a \`part\` that an answer of read_messages has named.`)
  const quoted = quotation(newQuoter(page.entry), placed, offset, MOST_PART_BYTES)
  const leftOut = quoted.rest
    ? [`${quoted.rest.characters} more characters: call read_messages with offset ${quoted.rest.offset}.`]
    : []
  const { nextCursor: _, ...alone } = page
  return answerOf(sessions, alone, [quoted], `Part ${part} of the message.`, leftOut)
}

/** The answer with all parts of a page of messages. */
const readPage = (sessions: Sessions, page: Page) => {
  const all = page.messages.flatMap(partsOf)
  const most = Math.min(MOST_PART_BYTES, Math.ceil(MOST_BYTES / Math.min(all.length, MOST_PARTS)))
  const quoter = newQuoter(page.entry)
  const parts = all.slice(0, MOST_PARTS).map((placed) => quotation(quoter, placed, 0, most))
  const cut = parts.filter(({ rest }) => rest !== undefined).length
  const leftOut = [
    ...(cut > 0
      ? [`the rest of ${cut} long parts: call read_messages with message, part and the offset of their rest.`]
      : []),
    ...(all.length > MOST_PARTS
      ? [`${all.length - MOST_PARTS} parts of the last messages: call read_messages with a lower limit.`]
      : []),
    ...(page.nextCursor === undefined
      ? []
      : ['the messages that follow: call read_messages with nextCursor as cursor.']),
  ]
  return answerOf(sessions, page, parts, `${page.messages.length} messages, in ${all.length} parts.`, leftOut)
}

export const readMessages: Tool<typeof input, typeof output> = {
  name: 'read_messages',
  title: 'Read messages of a session',
  description: `Reads up to ${MOST_MESSAGES} messages of a session: around one, such as a hit or a prompt, or from the beginning on.`,
  input,
  output,
  answer: async (sessions, given) => {
    const { message, part, cursor } = given
    if (part !== undefined && message === undefined)
      throw new InvalidCall('`part` needs `message`, the id of the message that has the part: give both.')
    if (cursor !== undefined && message !== undefined)
      throw new InvalidCall('`message` and `cursor` were both given: give only one of them.')
    const page = await read(sessions, given)
    return part === undefined ? readPage(sessions, page) : readPart(sessions, page, given)
  },
}
