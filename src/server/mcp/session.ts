import { z } from 'zod'
import { SessionShape, type TraceDetail, Visibility } from '../../contract/trace.ts'
import { tracePath } from '../pages/links.ts'
import { isoText } from '../../transcript/times.ts'
import { cutText, nameText, newQuoter, quotedWith } from './quoted.ts'
import type { Entry, Sessions } from './sessions.ts'

const { prompts, calls, failed, files, added, removed } = SessionShape.shape

const namespace = z.string().meta({ description: 'The slug of its namespace, for the other tools' })

/** Where a session is, for further calls. */
export const Place = quotedWith({ namespace }).meta({ description: 'Where the session is' })

/** A session, as every tool that names one shows it. */
export const Session = z.object({
  visibility: z.enum(Visibility.options),
  started: z.string().optional(),
  ended: z.string().optional(),
  messages: z.int(),
  shape: z.object({ prompts, calls, failed, files, added, removed }).optional(),
  about: quotedWith({
    namespace,
    link: z.string().meta({ description: 'The page of the session' }),
    title: z.string().optional(),
    summary: z.string().optional(),
    agent: z.string(),
    model: z.string().optional(),
    project: z.string().optional(),
    branch: z.string().optional(),
  }).meta({ description: 'What was recorded about the session' }),
})
export type Session = z.infer<typeof Session>

/** The arguments that name a session. */
export const sessionArguments = {
  session: z.string().min(1).max(1_024).meta({ description: 'The id of the session' }),
  namespace: z.string().min(1).max(256).optional().meta({
    description: 'The slug of the namespace that the session is in, where several have one of this id',
  }),
}

/** The most characters of a title and of a name. */
const MOST_NAME = 400
const MOST_SUMMARY = 2_000

/** The page of a session; with a message, at that message. */
export const linkOf = ({ origin }: Sessions, { trace, slug }: Entry, messageId?: string): string =>
  `${origin}${tracePath(slug, trace.externalId, messageId)}`

const optional = (name: string, text: string | undefined, most = MOST_NAME) =>
  text === undefined ? {} : { [name]: cutText(text, 0, most).text }

export const placeOf = (entry: Entry): z.infer<typeof Place> =>
  newQuoter(entry).quote('description', entry.author, entry.trace.startedAt, { namespace: entry.slug })

/** What the text of an answer says about a session: its page is among the links. */
export const spoken = ({ about: { link: _, ...said } }: Session) => said

/** The numbers of a shape, without its segments. */
const numbersOf = ({ segments: _, ...numbers }: SessionShape): NonNullable<Session['shape']> => numbers

/** A session in the form of `Session`. */
export const sessionOf = (sessions: Sessions, entry: Entry<Partial<TraceDetail> & Entry['trace']>): Session => {
  const { trace, slug, author } = entry
  const [started, ended] = [isoText(trace.startedAt), isoText(trace.endedAt)]
  const about = {
    namespace: slug,
    link: linkOf(sessions, entry),
    ...optional('title', trace.title ?? trace.ai_title),
    ...optional('summary', trace.ai_summary, MOST_SUMMARY),
    agent: nameText(trace.agentId),
    ...optional('model', trace.modelName ?? trace.model),
    ...optional('project', trace.projectName),
    ...optional('branch', trace.gitBranch),
  }
  return {
    visibility: trace.visibility,
    ...(started === undefined ? {} : { started }),
    ...(ended === undefined ? {} : { ended }),
    messages: trace.messageCount ?? 0,
    ...(trace.shape ? { shape: numbersOf(trace.shape) } : {}),
    about: newQuoter(entry).quote('description', author, trace.startedAt, about),
  }
}
