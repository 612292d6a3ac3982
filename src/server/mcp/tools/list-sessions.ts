import { z } from 'zod'
import { MOST_OTHERWISE, MOST_READ, answerFields, fitting, withFewer } from '../answer.ts'
import { quotesWith } from '../quoted.ts'
import { type Lengths, SessionInList, linkOf, sessionOf, sharedByAll, sharedFields } from '../session.ts'
import type { Sessions } from '../sessions.ts'
import type { Tool } from '../tool.ts'

const MOST_SESSIONS = 50
const DEFAULT_SESSIONS = 20

const input = z.object({
  namespace: z.string().min(1).max(256).optional().meta({
    description: 'The slug of a namespace. Default: the one that the token is active in',
  }),
  limit: z.int().min(1).max(MOST_SESSIONS).default(DEFAULT_SESSIONS),
  cursor: z.string().max(1_000).optional().meta({ description: 'The `nextCursor` of the answer before' }),
})

const output = z.object({
  ...answerFields,
  nextCursor: z.string().optional(),
  quotes: quotesWith({ ...sharedFields, sessions: z.array(SessionInList) }),
})

const LEVELS: readonly Lengths[] = [
  { name: 400, summary: 2_000 },
  { name: 300, summary: 600 },
  { name: 200, summary: 200 },
  { name: 120, summary: 0 },
  { name: 80, summary: 0 },
]

type Page = Awaited<ReturnType<Sessions['list']>>

const answerOf = (sessions: Sessions, { sessions: entries, nextCursor }: Page, lengths: Lengths) => {
  const { shared, own } = sharedByAll(entries.map((entry) => sessionOf(entry, lengths)))
  return {
    intro: own.length === 0 ? 'There are no sessions here.' : `${own.length} sessions, the latest first.`,
    leftOut: nextCursor === undefined ? [] : [`older sessions: call list_sessions with cursor "${nextCursor}".`],
    content: {
      ...(nextCursor === undefined ? {} : { nextCursor }),
      quotes: { quoted: true as const, role: 'description' as const, ...shared, sessions: own },
    },
    links: entries.map((entry, i) => ({ uri: linkOf(sessions, entry), name: `session ${i + 1}` })),
  }
}

export const listSessions: Tool<typeof input, typeof output> = {
  name: 'list_sessions',
  title: 'List sessions',
  description:
    'Lists recorded sessions of coding agents in a namespace, the latest first. Sub-agents are left out: `subAgents` counts them.',
  input,
  output,
  answer: (sessions, { namespace, limit, cursor }) => {
    const most = limit > DEFAULT_SESSIONS ? MOST_READ : MOST_OTHERWISE
    return withFewer(
      limit,
      most,
      (count) => sessions.list({ namespace, limit: count, cursor }),
      (page) => fitting(LEVELS, most, (lengths) => answerOf(sessions, page, lengths)),
    )
  },
}
