import { z } from 'zod'
import { SessionShape, type TraceDetail, Visibility } from '../../contract/trace.ts'
import { isoText } from '../../transcript/times.ts'
import { tracePath } from '../pages/links.ts'
import { beginning, fields, ofSession, sharedBy, timeOf } from './quoted.ts'
import type { Entry, Sessions } from './sessions.ts'

const { prompts, calls, failed, files, added, removed } = SessionShape.shape
const { session, namespace, author, agent, role, time } = fields

/** What sessions often have in common. */
const Often = z.object({
  namespace,
  author,
  agent,
  model: z.string().optional(),
  project: z.string().optional(),
  branch: z.string().optional(),
  visibility: z.enum(Visibility.options),
})

/** What was recorded about a session, as every tool that describes one shows it. */
const Session = z.object({
  session,
  time,
  title: z.string().optional(),
  summary: z.string().optional(),
  ...Often.shape,
  ended: z.string().optional(),
  messages: z.int().meta({ description: 'How many messages it has' }),
  subAgents: z.int().optional().meta({ description: 'How many sub-agents it has started, at most 100; only in lists' }),
  shape: z.object({ prompts, calls, failed, files, added, removed }).optional(),
})
type Session = z.infer<typeof Session>
export const sessionFields = { role, ...Session.shape }

/** The fields of a list of sessions: what is the same in all of them stands in the list. */
export const sharedFields = { role, ...Often.partial().shape }
export const SessionInList = Session.extend(Often.partial().shape)

/** The arguments that name a session. */
export const sessionArguments = {
  session: z.string().min(1).max(1_024).meta({ description: 'The id of the session' }),
  namespace: z.string().min(1).max(256).optional().meta({
    description: 'The slug of the namespace that the session is in, where several have one of this id',
  }),
}

/** The page of a session; with a message, at that message. */
export const linkOf = ({ origin }: Sessions, { trace, slug }: Entry, messageId?: string): string =>
  `${origin}${tracePath(slug, trace.externalId, messageId)}`

const optional = (name: string, text: string | undefined, most: number) =>
  text === undefined || most === 0 ? {} : { [name]: beginning(text, most) }

/** The numbers of a shape, without its segments. */
const numbersOf = ({ segments: _, ...numbers }: SessionShape): NonNullable<Session['shape']> => numbers

/** The most bytes of a name, such as a title, and of a summary; with 0 it is left out. */
export type Lengths = { readonly name: number; readonly summary: number }

/** A session in the form of `Session`. */
export const sessionOf = (entry: Entry<Partial<TraceDetail> & Entry['trace']>, { name, summary }: Lengths): Session => {
  const { trace } = entry
  const ended = isoText(trace.endedAt)
  return {
    ...ofSession(entry),
    time: timeOf(entry),
    ...optional('title', trace.title ?? trace.ai_title, name),
    ...optional('summary', trace.ai_summary, summary),
    ...optional('model', trace.modelName ?? trace.model, name),
    ...optional('project', trace.projectName, name),
    ...optional('branch', trace.gitBranch, name),
    visibility: trace.visibility,
    ...(ended === undefined ? {} : { ended }),
    messages: trace.messageCount ?? 0,
    ...(trace.childCount ? { subAgents: trace.childCount } : {}),
    ...(trace.shape ? { shape: numbersOf(trace.shape) } : {}),
  }
}

/** Sessions, without what is the same in all of them, and that. */
export const sharedByAll = <One extends Session>(all: readonly One[]) => sharedBy(all, Often.keyof().options)
