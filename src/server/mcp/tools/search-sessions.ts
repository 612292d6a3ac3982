import { z } from 'zod'
import type { Hit, SearchResult } from '../../../contract/search.ts'
import { visible } from '../../../transcript/visible.ts'
import { answerFields } from '../answer.ts'
import { type Quoter, newQuoter, quotedWith } from '../quoted.ts'
import { Session, linkOf, sessionOf, spoken } from '../session.ts'
import type { Entry, Sessions } from '../sessions.ts'
import type { Tool } from '../tool.ts'

const MOST_SESSIONS = 20

const input = z.object({
  query: z
    .string()
    .max(400)
    .meta({
      description:
        'Words that must all occur in one message: whole words, parts of identifiers, pieces of paths. Also "a phrase", -word, this OR that, and ' +
        'agent: model: tool: role: author: project: namespace: branch: is:public has:error in:prompt|answer|thinking|call|output from:2026-01-31 to:. ' +
        'Without words, the sessions are sorted by time.',
    }),
  sort: z.enum(['relevance', 'newest']).default('relevance'),
  limit: z.int().min(1).max(MOST_SESSIONS).default(10).meta({ description: 'The number of sessions' }),
  cursor: z.string().max(1_000).optional().meta({ description: 'The `nextCursor` of the answer before' }),
})

const output = z.object({
  results: z.array(
    z.object({
      session: Session,
      hits: z.array(
        quotedWith({
          message: z.string().optional().meta({ description: 'The id of the message, for read_messages' }),
          part: z.int().optional(),
          in: z.string().optional().meta({ description: 'The kind of text in which this was found' }),
          text: z.string(),
          // Not a tuple: clients of the revision before do not know its JSON Schema.
          marks: z
            .array(z.object({ start: z.int(), end: z.int() }))
            .meta({ description: 'Where the words are in `text`, in UTF-16 units' }),
        }),
      ),
      more: z.int().meta({ description: 'How many more messages of the session were found' }),
    }),
  ),
  total: z.object({ sessions: z.int(), exact: z.boolean() }),
  nextCursor: z.string().optional(),
  ...answerFields,
})

/** A text with visible characters only, and its marks in it. */
const shown = ({ text, marks }: Hit['snippet']) => {
  let [all, at] = ['', 0]
  const moved: { start: number; end: number }[] = []
  for (const [start, end] of marks) {
    all += visible(text.slice(at, start))
    const from = all.length
    all += visible(text.slice(start, end))
    moved.push({ start: from, end: all.length })
    at = end
  }
  return { text: all + visible(text.slice(at)), marks: moved }
}

const hitOf = ({ quote, quoteMessage, agent }: Quoter, author: string, hit: Hit) => {
  const { messageExternalId, part, in: place, role = 'assistant', at, snippet } = hit
  const content = {
    ...(messageExternalId === undefined ? {} : { message: messageExternalId }),
    ...(part === undefined ? {} : { part }),
    ...(place === undefined ? {} : { in: place }),
    ...shown(snippet),
  }
  if (messageExternalId === undefined) return quote('description', author, at, content)
  // The output of a tool is in a message of the user, who has not written it.
  return place === 'output' ? quote('tool', agent, at, content) : quoteMessage(role, at, content)
}

const entryOf = ({ trace }: SearchResult): Entry => ({
  trace,
  slug: trace.namespace.slug,
  author: trace.author?.displayName ?? trace.author?.id ?? 'unknown',
})

const resultOf = (sessions: Sessions, result: SearchResult) => {
  const entry = entryOf(result)
  const quoter = newQuoter(entry)
  const hits = result.hits.map((hit) => hitOf(quoter, entry.author, hit))
  const links = result.hits.map(({ messageExternalId }) => linkOf(sessions, entry, messageExternalId))
  return { shown: { session: sessionOf(sessions, entry), hits, more: result.more }, links }
}

export const searchSessions: Tool<typeof input, typeof output> = {
  name: 'search_sessions',
  title: 'Search sessions',
  description:
    'Searches all recorded sessions that you may read, by words: prompts, answers, thinking, calls of tools and their output.',
  input,
  output,
  answer: async (sessions, { query, ...asked }) => {
    const answer = await sessions.search({ q: query, ...asked })
    const { total, complete, nextCursor, indexedThrough } = answer
    const found = answer.results.map((result) => resultOf(sessions, result))
    const results = found.map(({ shown }) => shown)
    const more = results.reduce((sum, one) => sum + one.more, 0)
    const atLeast = total.exact ? '' : 'at least '
    const leftOut = [
      ...(more > 0 ? [`${more} more messages of these sessions: read_messages has the messages around a hit.`] : []),
      ...(nextCursor === undefined
        ? []
        : [`${complete ? 'further' : 'older'} sessions: call search_sessions with nextCursor as cursor.`]),
    ]
    return {
      intro:
        results.length === 0
          ? `Nothing was found${nextCursor === undefined ? '' : ' in what has been searched so far'}.`
          : `Found in ${atLeast}${total.value} sessions, of which ${results.length} are here.`,
      leftOut,
      content: {
        results,
        total: { sessions: total.value, exact: total.exact },
        ...(nextCursor === undefined ? {} : { nextCursor }),
      },
      quotes: results.flatMap(({ hits, session }) => [spoken(session), ...hits]),
      links: found.flatMap(({ links }, i) => links.map((uri, k) => ({ uri, name: `session ${i + 1}, hit ${k + 1}` }))),
      through: new Date(indexedThrough).toISOString(),
    }
  },
}
