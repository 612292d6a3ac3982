import { z } from 'zod'
import { answerFields } from '../answer.ts'
import { Session, sessionOf, spoken } from '../session.ts'
import type { Tool } from '../tool.ts'

const MOST_SESSIONS = 50

const input = z.object({
  namespace: z.string().min(1).max(256).optional().meta({
    description: 'The slug of a namespace. Default: the one that the token is active in',
  }),
  limit: z.int().min(1).max(MOST_SESSIONS).default(20),
  cursor: z.string().max(1_000).optional().meta({ description: 'The `nextCursor` of the answer before' }),
})

const output = z.object({
  sessions: z.array(Session),
  nextCursor: z.string().optional(),
  ...answerFields,
})

export const listSessions: Tool<typeof input, typeof output> = {
  name: 'list_sessions',
  title: 'List sessions',
  description: 'Lists recorded sessions of coding agents in a namespace, the latest first.',
  input,
  output,
  answer: async (sessions, { namespace, limit, cursor }) => {
    const { sessions: entries, nextCursor } = await sessions.list({ namespace, limit, cursor })
    const shown = entries.map((entry) => sessionOf(sessions, entry))
    return {
      intro: shown.length === 0 ? 'There are no sessions here.' : `${shown.length} sessions, the latest first.`,
      leftOut: nextCursor === undefined ? [] : ['older sessions: call list_sessions with nextCursor as cursor.'],
      content: { sessions: shown, ...(nextCursor === undefined ? {} : { nextCursor }) },
      quotes: shown.map((one) => ({ ...spoken(one), messages: one.messages, started: one.started })),
      links: shown.map(({ about: { link } }, i) => ({ uri: link, name: `session ${i + 1}` })),
    }
  },
}
