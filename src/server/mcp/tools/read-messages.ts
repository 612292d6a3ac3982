import { z } from 'zod'
import type { TraceDetail } from '../../../contract/trace.ts'
import type { Part } from '../../../transcript/message.ts'
import { ownText } from '../../../transcript/turns.ts'
import { MOST_READ, answerFields, fitting, withFewer } from '../answer.ts'
import { cutText, fields, nameText, ofSession, quotesWith, timeOf } from '../quoted.ts'
import { type TimedMessage, readTimed } from '../read-all.ts'
import { linkOf, sessionArguments } from '../session.ts'
import type { Entry, Sessions } from '../sessions.ts'
import { InvalidCall, type Tool } from '../tool.ts'

const MOST_MESSAGES = 40
const MOST_PART_BYTES = 4 * 1024

/** How many parts are shown, and the most bytes of each. */
type Level = { readonly parts: number; readonly bytes: number }

/** Of several messages all parts are shown, or fewer messages. */
const MOST_PARTS = 200
const LEVELS: readonly Level[] = [MOST_PART_BYTES, 3_000, 2_250, 1_700, 1_250, 950, 700, 525, 400, 300].map(
  (bytes) => ({ parts: MOST_PARTS, bytes }),
)
/** Of one message that has too many parts. */
const FEWER_PARTS: readonly Level[] = [100, 50, 25, 12, 6].map((parts) => ({ parts, bytes: 300 }))

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

const { session, namespace, author, agent, role, time, message } = fields

const QuotedPart = z.object({
  part: z.int().meta({ description: 'The place of the part in its message; -1 for a text beside the parts' }),
  type: z.enum(['text', 'thinking', 'tool_call', 'tool_result', 'error']),
  role: role.optional(),
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
type QuotedPart = z.infer<typeof QuotedPart>

const output = z.object({
  ...answerFields,
  nextCursor: z.string().optional(),
  quotes: quotesWith({
    ...{ session, namespace, author, agent },
    messages: z
      .array(z.object({ message, role, time, parts: z.array(QuotedPart) }))
      .meta({ description: 'The messages and their parts, in order' }),
  }),
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

/** The role of a part, if it is not that of its message: the output of a tool is in a message of the user, who has not written it. */
const ownRole = ({ type }: Part) => {
  if (type === 'tool_result') return { role: 'tool' as const }
  return type === 'error' ? { role: 'system' as const } : {}
}

const quotedPart = ({ part, index }: PartInMessage, from: number, most: number): QuotedPart => {
  const { type, text: whole, ...more } = contentOf(part)
  const { text, end } = cutText(whole, from, most)
  const left = whole.length - end
  const rest = left > 0 ? { rest: { offset: end, characters: left } } : {}
  return { part: index, type, ...ownRole(part), ...more, text, ...rest }
}

type Page = {
  readonly entry: Entry<TraceDetail>
  readonly messages: readonly TimedMessage[]
  readonly nextCursor?: string | undefined
  /** The number of messages with which it was read. */
  readonly limit: number
}

const read = async (sessions: Sessions, given: Given, limit: number): Promise<Page> => {
  const { session: externalId, namespace, message: around, cursor } = given
  const entry = await sessions.get({ externalId, namespace })
  const name = { externalId, namespace: entry.slug }
  const page = await sessions.messages(name, { around, cursor, limit })
  const messages: TimedMessage[] = []
  for (const stored of page.messages) messages.push(await readTimed(sessions, stored))
  const hasTooMany = messages.length > 1 && messages.flatMap(partsOf).length > MOST_PARTS
  if (hasTooMany) return read(sessions, given, Math.floor(limit / 2))
  return { entry, messages, nextCursor: page.nextCursor, limit }
}

type ShownMessage = { readonly message: TimedMessage; readonly parts: readonly QuotedPart[] }

const contentFrom = ({ entry, nextCursor }: Page, shown: readonly ShownMessage[]) => ({
  ...(nextCursor === undefined ? {} : { nextCursor }),
  quotes: {
    quoted: true as const,
    ...ofSession(entry),
    messages: shown.map(({ message: { externalId, role, timestamp }, parts }) => ({
      message: externalId,
      role,
      time: timeOf(entry, timestamp),
      parts: [...parts],
    })),
  },
})

/** The answer with one part, from `offset` on. */
const readPart = (sessions: Sessions, page: Page, { part, offset }: Given) => {
  const placed = page.messages.flatMap(partsOf).find(({ index }) => index === part)
  if (!placed)
    throw new InvalidCall(`The message has no part ${part}: use a \`part\` that an answer of read_messages has named.`)
  const { message } = placed
  const quoted = quotedPart(placed, offset, MOST_PART_BYTES)
  const { nextCursor: _, ...alone } = page
  return {
    intro: `Part ${part} of the message.`,
    leftOut: quoted.rest
      ? [`${quoted.rest.characters} more characters: call read_messages with offset ${quoted.rest.offset}.`]
      : [],
    content: contentFrom(alone, [{ message, parts: [quoted] }]),
    links: [{ uri: linkOf(sessions, page.entry, message.externalId), name: 'message' }],
  }
}

/** What a page leaves out, and how to get it. `asked` is the number of messages that were asked for. */
const leftOutOf = (
  { messages, nextCursor, limit }: Page,
  { cut, more }: { readonly cut: number; readonly more: number },
  asked: number,
): string[] => [
  ...(limit < asked ? [`some of the ${asked} messages that were asked for: only ${messages.length} fit.`] : []),
  ...(nextCursor === undefined
    ? []
    : [`the messages that follow: call read_messages with cursor "${nextCursor}" instead of a message.`]),
  ...(more > 0 ? [`${more} later parts of the message: call read_messages with message and part, for one each.`] : []),
  ...(cut > 0
    ? [`the rest of ${cut} long parts: call read_messages with message, part and the offset of their rest.`]
    : []),
]

/** The messages of a page with their parts, as far as the level allows. */
const shownAt = ({ messages }: Page, { parts: most, bytes }: Level): readonly ShownMessage[] => {
  let left = most
  return messages.map((message) => {
    const parts = partsOf(message).slice(0, left)
    left -= parts.length
    return { message, parts: parts.map((placed) => quotedPart(placed, 0, bytes)) }
  })
}

/** The answer with the parts of a page of messages. */
const answerOf = (sessions: Sessions, page: Page, given: Given, level: Level) => {
  const shown = shownAt(page, level)
  const parts = shown.flatMap((one) => one.parts)
  const all = page.messages.flatMap(partsOf).length
  const cut = parts.filter(({ rest }) => rest !== undefined).length
  const links = page.messages.map(({ externalId }, i) => ({
    uri: linkOf(sessions, page.entry, externalId),
    name: `message ${i + 1}`,
  }))
  const asked = page.messages.findIndex(({ externalId }) => externalId === given.message)
  return {
    intro: `${page.messages.length} messages, in ${all} parts.`,
    leftOut: leftOutOf(page, { cut, more: all - parts.length }, given.limit),
    content: contentFrom(page, shown),
    links: [...links.slice(Math.max(asked, 0)), ...links.slice(0, Math.max(asked, 0))],
  }
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
    if (part !== undefined) return readPart(sessions, await read(sessions, given, 1), given)
    return withFewer(
      given.limit,
      MOST_READ,
      (limit) => read(sessions, given, limit),
      (page) => {
        const levels = page.messages.length === 1 ? [...LEVELS, ...FEWER_PARTS] : LEVELS
        return fitting(levels, MOST_READ, (level) => answerOf(sessions, page, given, level))
      },
    )
  },
}
