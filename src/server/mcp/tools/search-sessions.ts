import { z } from 'zod'
import type { Hit, SearchAnswer, SearchResult } from '../../../contract/search.ts'
import { cutAt } from '../../../transcript/slices.ts'
import { MOST_OTHERWISE, MOST_READ, answerFields, fitting, withFewer } from '../answer.ts'
import { beginning, fields, nameText, quotesWith, timeOf } from '../quoted.ts'
import { type Lengths, SessionInList, linkOf, sessionOf, sharedByAll, sharedFields } from '../session.ts'
import type { Entry, Sessions } from '../sessions.ts'
import type { Tool } from '../tool.ts'

const MOST_SESSIONS = 20
const DEFAULT_SESSIONS = 10

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
  limit: z.int().min(1).max(MOST_SESSIONS).default(DEFAULT_SESSIONS).meta({ description: 'The number of sessions' }),
  cursor: z.string().max(1_000).optional().meta({ description: 'The `nextCursor` of the answer before' }),
})

const { message, role, time } = fields

const QuotedHit = z.object({
  message: message.optional(),
  part: z.int().optional(),
  role,
  time,
  in: z.string().optional().meta({ description: 'The kind of text in which this was found' }),
  text: z.string(),
})

const output = z.object({
  ...answerFields,
  total: z.object({ sessions: z.int(), exact: z.boolean() }),
  nextCursor: z.string().optional(),
  quotes: quotesWith({
    ...sharedFields,
    results: z.array(
      SessionInList.extend({
        more: z.int().meta({ description: 'How many more messages of the session were found' }),
        hits: z.array(QuotedHit),
      }),
    ),
  }),
})

/** How much of each session is shown: `hits` of at most `text` bytes. */
type Level = Lengths & { readonly hits: number; readonly text: number }

const LEVELS: readonly Level[] = [
  { name: 400, summary: 600, hits: 3, text: 1_000 },
  { name: 200, summary: 200, hits: 3, text: 400 },
  { name: 120, summary: 0, hits: 3, text: 300 },
  { name: 120, summary: 0, hits: 2, text: 250 },
  { name: 100, summary: 0, hits: 2, text: 160 },
  { name: 80, summary: 0, hits: 1, text: 160 },
]

/** A piece of a text around the first word that was found. */
const around = ({ text, marks }: Hit['snippet'], most: number): string => {
  if (Buffer.byteLength(text) <= most) return beginning(text, most)
  const from = cutAt(text, Math.max(0, (marks[0]?.[0] ?? 0) - Math.floor(most / 4)))
  return `${from > 0 ? '…' : ''}${beginning(text.slice(from), most)}`
}

/** The role of who wrote a hit. The output of a tool is in a message of the user, who has not written it. */
const roleOf = ({ messageExternalId, in: place, role = 'assistant' }: Hit) => {
  if (messageExternalId === undefined) return 'description'
  return place === 'output' ? 'tool' : role
}

const hitOf = (entry: Entry, hit: Hit, most: number): z.infer<typeof QuotedHit> => {
  const { messageExternalId, part, in: place, at, snippet } = hit
  return {
    ...(messageExternalId === undefined ? {} : { message: messageExternalId }),
    ...(part === undefined ? {} : { part }),
    role: roleOf(hit),
    time: timeOf(entry, at),
    ...(place === undefined ? {} : { in: place }),
    text: around(snippet, most),
  }
}

const entryOf = ({ trace }: SearchResult): Entry => ({
  trace,
  slug: trace.namespace.slug,
  author: trace.author?.displayName ?? trace.author?.id ?? 'unknown',
})

const resultOf = (result: SearchResult, level: Level) => {
  const entry = entryOf(result)
  const hits = result.hits.slice(0, level.hits).map((hit) => hitOf(entry, hit, level.text))
  return { ...sessionOf(entry, level), more: result.more + result.hits.length - hits.length, hits }
}

/** The addresses of the hits, the best one of each session first. */
const linksOf = (sessions: Sessions, results: readonly SearchResult[]) =>
  results
    .flatMap((result, i) =>
      result.hits.map(({ messageExternalId }, k) => ({
        uri: linkOf(sessions, entryOf(result), messageExternalId),
        name: `session ${i + 1}, hit ${k + 1}`,
        rank: k,
      })),
    )
    .sort((a, b) => a.rank - b.rank)
    .map(({ uri, name }) => ({ uri, name }))

const quoted = (text: string): string => JSON.stringify(nameText(text))

const introOf = ({ results, total, nextCursor, meant = [] }: SearchAnswer): string => {
  if (results.length === 0) {
    const fields = meant.map(({ text, instead }) => ` Instead of ${quoted(text)} try ${quoted(instead)}.`)
    return `Nothing was found${nextCursor === undefined ? '' : ' in what has been searched so far'}.${fields.join('')}`
  }
  return `Found in ${total.exact ? '' : 'at least '}${total.value} sessions, of which ${results.length} are here.`
}

const leftOutOf = ({ notUnderstood = [], complete, nextCursor }: SearchAnswer, more: number): string[] => [
  ...notUnderstood.map(({ text, why }) => `the words ${quoted(text)}, not understood: ${why}.`),
  ...(more > 0 ? [`${more} more messages of these sessions: read_messages has the messages around a hit.`] : []),
  ...(nextCursor === undefined
    ? []
    : [`${complete ? 'further' : 'older'} sessions: call search_sessions with cursor "${nextCursor}".`]),
]

const answerOf = (sessions: Sessions, found: SearchAnswer, level: Level) => {
  const { total, nextCursor, indexedThrough } = found
  const results = found.results.map((result) => resultOf(result, level))
  const { shared, own } = sharedByAll(results)
  const more = results.reduce((sum, one) => sum + one.more, 0)
  return {
    intro: introOf(found),
    leftOut: leftOutOf(found, more),
    content: {
      total: { sessions: total.value, exact: total.exact },
      ...(nextCursor === undefined ? {} : { nextCursor }),
      quotes: { quoted: true as const, role: 'description' as const, ...shared, results: own },
    },
    links: linksOf(sessions, found.results),
    through: new Date(indexedThrough).toISOString(),
  }
}

export const searchSessions: Tool<typeof input, typeof output> = {
  name: 'search_sessions',
  title: 'Search sessions',
  description:
    'Searches all recorded sessions that you may read, by words: prompts, answers, thinking, calls of tools and their output.',
  input,
  output,
  answer: (sessions, { query, limit, ...asked }) => {
    const most = limit > DEFAULT_SESSIONS ? MOST_READ : MOST_OTHERWISE
    return withFewer(
      limit,
      most,
      (count) => sessions.search({ q: query, limit: count, ...asked }),
      (found) => fitting(LEVELS, most, (level) => answerOf(sessions, found, level)),
    )
  },
}
