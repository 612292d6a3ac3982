import { realpath, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { escapeControlsInLines, shellWord } from '../base/escape.ts'
import { exitCodes, UsageError } from '../cli/exit.ts'
import { stoppable } from '../cli/interrupt.ts'
import { io } from '../cli/io.ts'
import { printDocument, printLines, say, writeOut } from '../cli/output.ts'
import { type Amount, newTally, type Tally } from '../client/agents/support/tally.ts'
import type { Written, WrittenSession } from '../client/agents/support/writer.ts'
import { hasStatus } from '../client/api/errors.ts'
import { type HistoryClient, newHistoryClient } from '../client/api/history.ts'
import type { TraceDetail } from '../client/api/traces.ts'
import { sessionMessages } from '../client/resume/messages.ts'
import { programVersion } from '../client/resume/program-version.ts'
import { type Place, type Target, targets } from '../client/resume/targets.ts'
import { writeSessionFile } from '../client/resume/write-file.ts'
import { readHead } from '../client/rules/head.ts'
import { findPlace } from '../client/rules/repository.ts'
import { openResumed } from '../client/state/resumed.ts'
import { type Access, type ClientOptions, patientTiming } from './support/access.ts'
import { findTrace } from './support/find-trace.ts'
import { messagesOf } from './support/pages.ts'

type Options = ClientOptions & {
  readonly in?: string
  readonly at?: string
  readonly dir?: string
  readonly print?: boolean
}

const names = targets.map(({ agent }) => agent.id).join(' and ')

const targetOf = (id: string): Target | undefined => targets.find(({ agent }) => agent.id === id)

/** @throws UsageError unless sessions can be written for the agent of --in */
const requireKnown = (id: string | undefined): void => {
  if (id === undefined || targetOf(id)) return
  throw new UsageError(`Sessions can be written for ${names}, not for "${id}".`)
}

/** The agent for which a session is written: that of --in, else its own. @throws UsageError */
const targetFor = ({ agentId }: TraceDetail, wanted: string | undefined): Target => {
  const own = targetOf(agentId)
  if (!own) throw new UsageError(`Sessions of ${names} can be resumed, not those of "${agentId}".`)
  return wanted === undefined ? own : targetOf(wanted)!
}

/** The real path of the folder in which the session goes on. @throws UsageError */
const directoryOf = async ({ dir = '.' }: Options): Promise<string> => {
  const path = await realpath(resolve(dir)).catch(() => undefined)
  if (path === undefined || !(await stat(path)).isDirectory()) throw new UsageError(`There is no folder "${dir}".`)
  return path
}

/** @throws UsageError if the session has no such message */
const requireMessage = async (history: HistoryClient, trace: TraceDetail, message: string): Promise<void> => {
  const query = { namespace: trace.namespace.slug, around: message, limit: 1 }
  await history.messages(trace.externalId, query).catch((error: unknown) => {
    if (!hasStatus(error, 404) && !hasStatus(error, 400)) throw error
    throw new UsageError(`The session has no message "${message}".`, { cause: error })
  })
}

/** What is written, held back until there is a prompt or an answer to go on from. @throws UsageError if there is neither */
async function* withConversation(written: AsyncIterable<Written>, signal: AbortSignal): AsyncGenerator<Written> {
  let held: Written[] | undefined = []
  for await (const one of written) {
    signal.throwIfAborted()
    held?.push(one)
    if (one.said.role !== 'system' && one.said.parts.some(({ type }) => type !== 'tool_result')) {
      yield* held ?? []
      if (!held) yield one
      held = undefined
    } else if (!held) yield one
  }
  if (held) throw new UsageError('The session has no prompt and no answer to go on from.')
}

const linesOf = async function* (written: AsyncIterable<Written>): AsyncGenerator<string> {
  for await (const { lines } of written) for (const line of lines) yield `${line}\n`
}

const printAll = async (written: AsyncIterable<Written>): Promise<void> => {
  const { isTTY } = io().stdout
  for await (const line of linesOf(written)) await writeOut(isTTY ? escapeControlsInLines(line) : line)
}

const amountsText = (amounts: readonly Amount[]): string =>
  amounts.map(({ what, count }) => `${what} (${count})`).join(', ')

const newSession = async (target: Target, place: Place, trace: TraceDetail): Promise<WrittenSession> => {
  const { repository } = (await findPlace(place.directory, place.home)) ?? {}
  const head = repository && (await readHead(repository))(undefined)
  return {
    id: target.newId(),
    directory: place.directory,
    branch: head?.branch,
    commit: head?.commit,
    version: await programVersion(target, place),
    provider: await target.provider?.(place),
    at: Date.now(),
    model: trace.model,
    isOwn: trace.agentId === target.agent.id,
  }
}

/** What is to be written, and where. */
type Plan = {
  readonly target: Target
  readonly place: Place
  readonly session: WrittenSession
  /** The id of the trace that it is made of. */
  readonly origin: string
  readonly tally: Tally
  readonly signal: AbortSignal
}

/** Writes the file, and returns its path. */
const write = async (config: string, plan: Plan, written: AsyncIterable<Written>): Promise<string> => {
  const { target, place, session, origin, signal } = plan
  const file = await target.pathOf(place, session.id, new Date(session.at))
  const resumed = openResumed(config)
  const record = {
    note: () => resumed.note(session.id, { agentId: target.agent.id, parentExternalId: origin }),
    forget: () => resumed.forget(session.id),
  }
  await writeSessionFile(file, { target, session, written, signal, record })
  return file
}

const tell = async ({ target, place: { directory }, session: { id }, tally }: Plan, file: string, json = false) => {
  const command = `cd ${shellWord(directory)} && ${target.command(id).map(shellWord).join(' ')}`
  const [{ leftOut, putIn }, agent] = [tally.amounts(), target.agent.id]
  if (json) {
    const { messages } = tally
    return printDocument({ type: 'resumed', agent, id, file, directory, command, messages, leftOut, putIn })
  }
  await printLines([command])
  if (leftOut.length > 0) say(`left out: ${amountsText(leftOut)}`)
  if (putIn.length > 0) say(`put in: ${amountsText(putIn)}`)
}

export const resume = async (given: Access, options: Options, name: string): Promise<number> => {
  requireKnown(options.in)
  const place = { directory: await directoryOf(options), env: io().env, home: io().home }
  const { access, trace } = await findTrace(given, options, name)
  const target = targetFor(trace, options.in)
  const history = newHistoryClient(access.server, await access.token(), patientTiming)
  if (options.at !== undefined) await requireMessage(history, trace, options.at)
  const session = await newSession(target, place, trace)
  const tally = newTally()
  const stored = messagesOf(history, trace.externalId, { namespace: trace.namespace.slug })
  const messages = sessionMessages(stored, { isOwn: session.isOwn, last: options.at })
  return stoppable(async (signal) => {
    const written = withConversation(target.write(session, messages, tally), signal)
    if (options.print) await printAll(written)
    else {
      const plan = { target, place, session, origin: trace.externalId, tally, signal }
      await tell(plan, await write(access.config, plan, written), options.json)
    }
    return exitCodes.ok
  })
}
