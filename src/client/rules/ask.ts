import { escapeControls } from '../../base/escape.ts'
import { UsageError } from '../../cli/exit.ts'
import type { Part, SessionMessage, StoredSession } from '../agents/agent.ts'
import { type RedactionOptions, redactSession } from '../redaction/session.ts'
import { countOf } from '../report/text.ts'
import type { HeldSession } from '../upload/run.ts'
import { findOwnTrace } from '../upload/upsert-trace.ts'
import { type Asking, confirmPublic, type PublicPreview, terminalAsking } from './confirm-public.ts'
import type { Agreement, Destinations } from './destinations.ts'
import type { Trust } from './trust.ts'

const textOf = (parts: readonly Part[]): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.content.text] : [])).join('\n')

/** The first prompt of a session, whose messages are not sorted. */
const newFirstPrompt = () => {
  let first: SessionMessage | undefined
  return {
    look: (message: SessionMessage) => {
      if (message.role !== 'user' || message.order >= (first?.order ?? Infinity)) return
      if (textOf(message.parts).trim() !== '') first = message
    },
    text: () => first && textOf(first.parts),
  }
}

/** Reads a session as it would be sent, to show what others would see of it. Throws what reading throws. */
const previewOf = async (
  stored: StoredSession,
  redaction: RedactionOptions | undefined,
  because: string,
): Promise<PublicPreview & { readonly sessionId: string }> => {
  const read = await stored.read({ onMalformed: () => {} })
  const { trace, messages } = redaction ? (await redactSession(read, redaction)).session : read
  const firstPrompt = newFirstPrompt()
  let count = 0
  for await (const message of messages()) {
    count++
    firstPrompt.look(message)
  }
  return {
    sessionId: read.externalId,
    source: stored.source,
    title: trace.title,
    project: trace.projectPath ?? trace.projectName,
    branch: trace.gitBranch,
    messages: count,
    firstPrompt: firstPrompt.text(),
    isRedacted: redaction !== undefined,
    because,
  }
}

type Options = {
  readonly destinations: Destinations
  readonly trust: Trust
  readonly server: string
  readonly redaction: RedactionOptions | undefined
}

type ToNamespace = Extract<Agreement, { to: 'namespace' }>
type ToPublic = Extract<Agreement, { to: 'public' }>
type Asked<A extends Agreement> = { readonly held: HeldSession; readonly agreement: A }

const LISTED = 10

/** The question before the sessions of a project are sent where a file says that came with the project. */
const namespaceQuestion = (
  { rule, namespace }: Pick<ToNamespace, 'rule' | 'namespace'>,
  sessions: readonly HeldSession[],
  server: string,
): string => {
  const named = sessions.slice(0, LISTED).map(({ stored: { source } }) => `  ${escapeControls(source)}`)
  const more = sessions.length - named.length
  return [
    `${escapeControls(rule.place)} came with the project, and may have been written by others.`,
    `It sends ${countOf(sessions.length, 'session')} to the namespace ${namespace} at ${server}, whose members can read them then:`,
    ...named,
    ...(more > 0 ? [`  and ${more} more`] : []),
    'Your answer yes is remembered until the file changes.',
  ].join('\n')
}

/** The held sessions that wait for one kind of agreement. Errors are reported when a session is tried again. */
const waitingFor = async <K extends Agreement['to']>(
  { destinations }: Options,
  sessions: readonly HeldSession[],
  kind: K,
): Promise<readonly Asked<Extract<Agreement, { to: K }>>[]> => {
  const found: Asked<Extract<Agreement, { to: K }>>[] = []
  for (const held of sessions) {
    const agreement = await destinations.agreementFor(held.origin).catch(() => undefined)
    if (agreement?.to === kind) found.push({ held, agreement: agreement as Extract<Agreement, { to: K }> })
  }
  return found
}

/** Whether the user agrees. Ending the input means no. */
const isAgreed = async ({ confirm }: Asking, question: string): Promise<boolean> => {
  try {
    return await confirm(question)
  } catch (error) {
    if (error instanceof UsageError) return false
    throw error
  }
}

/** Asks once for each file. */
const askForNamespaces = async (options: Options, sessions: readonly HeldSession[], asking: Asking): Promise<void> => {
  const waiting = await waitingFor(options, sessions, 'namespace')
  const keyOf = ({ agreement: { rule, namespace } }: Asked<ToNamespace>) =>
    JSON.stringify([rule.stranger, namespace, rule.place])
  for (const group of Map.groupBy(waiting, keyOf).values()) {
    const { agreement } = group[0]!
    const question = namespaceQuestion(
      agreement,
      group.map(({ held }) => held),
      options.server,
    )
    if (await isAgreed(asking, question)) await options.trust.add(agreement.rule)
  }
}

/** Whether the trace of this session is public already: then nothing becomes public. */
const isPublic = async (
  { held: { origin }, agreement: { destination } }: Asked<ToPublic>,
  sessionId: string,
): Promise<boolean> => {
  const state = destination.states.find({ agentId: origin.agentId, sessionId })
  if (state?.status !== 'stored') return false
  return (await findOwnTrace(destination.connection, state.externalId))?.visibility === 'public'
}

const askForPublic = async (options: Options, sessions: readonly HeldSession[], asking: Asking): Promise<void> => {
  const { destinations, redaction, server } = options
  const previews: PublicPreview[] = []
  for (const one of await waitingFor(options, sessions, 'public')) {
    const { stored, origin } = one.held
    // A session that cannot be read is reported when it is tried again.
    const preview = await previewOf(stored, redaction, one.agreement.because).catch(() => undefined)
    if (preview && (await isPublic(one, preview.sessionId).catch(() => false))) destinations.approve(origin.source)
    else if (preview && preview.messages > 0) previews.push(preview)
    else destinations.sendPrivately(origin.source)
  }
  try {
    await confirmPublic(previews, { yes: false, server }, asking)
  } catch (error) {
    if (error instanceof UsageError) return
    throw error
  }
  for (const { source } of previews) destinations.approve(source)
}

/** Asks on the terminal about held sessions; undefined if nobody can answer. */
export const newAskFor = (
  options: Options,
  asking: Asking = terminalAsking(),
): ((sessions: readonly HeldSession[]) => Promise<void>) | undefined => {
  if (!asking.isTerminal) return undefined
  return async (sessions) => {
    await askForNamespaces(options, sessions, asking)
    await askForPublic(options, sessions, asking)
  }
}
