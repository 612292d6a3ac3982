import { basename, join } from 'node:path'
import type { Agent, SessionFields, SessionMessage } from '../agent.ts'
import { acceptedId, newMessageIds, noMessageIds } from '../support/external-ids.ts'
import { objectsOf, sessionPerFile } from '../support/files.ts'
import { type Json, objectOf, textOf } from '../support/json.ts'
import { type LineParser, noMessages, type Start } from '../support/line-parser.ts'
import type { ObjectLine } from '../support/lines.ts'
import { newReferences, type References } from '../support/references.ts'
import { sessionOfLines } from '../support/session-of-lines.ts'
import { newMessage } from '../support/parts.ts'
import { newToolCalls } from '../support/tool-calls.ts'
import {
  forkOf,
  newOutline,
  newPromptTitle,
  type Outline,
  storedTitle,
  titleOf,
  traceFieldsOf,
} from '../support/trace-fields.ts'
import { type AgentSessions, withAgent } from './content.ts'
import { codexFolder, indexedTitle, isRollout, isSegment, SESSION_FOLDERS, threadIdOf } from './files.ts'
import { mayBeFrom, type OwnStart, ownStartOf } from './fork.ts'
import { isRolloutLine, payloadOf, type Reading, readLine, unknownIn } from './messages.ts'
import { newOutcomes, type Outcomes } from './outcomes.ts'
import { findSpawn, type Spawn } from './spawns.ts'
import { newUsages, type Usages } from './usage.ts'

const id = 'codex'

/** What lines say about the session itself. `session` is the part of its `session_meta` that is used. */
type Meta = { readonly session?: Json; readonly cwd?: string; readonly name?: string }

/** Where a sub-agent stands among the agents of its session, such as `/root/review`. */
const agentPathIn = ({ agent_path, source }: Json): unknown =>
  textOf(agent_path) ?? objectOf(objectOf(objectOf(source)['subagent'])['thread_spawn'])['agent_path']

/** The thread that started this sub-agent's. Newer versions also store it beside the thread's id. */
const parentIn = ({ parent_thread_id, source }: Json): unknown =>
  textOf(parent_thread_id) ?? objectOf(objectOf(objectOf(source)['subagent'])['thread_spawn'])['parent_thread_id']

const neededOf = (session: Json): Json => {
  const { id, cwd, git, forked_from_id: origin } = session
  const { branch, commit_hash, repository_url } = objectOf(git)
  return {
    id,
    cwd,
    git: { branch, commit_hash, repository_url },
    parent: parentIn(session),
    origin,
    agentPath: agentPathIn(session),
  }
}

/** The name that an event gives the session; undefined for other events, and for events that a fork has copied from its parent. */
const nameIn = ({ session }: Meta, { type, thread_id: id, thread_name: name }: Json): string | undefined => {
  const isOwn = id === undefined || id === null || id === session?.['id']
  return type === 'thread_name_updated' && isOwn ? storedTitle(name) : undefined
}

/** What is known of the session after one more line (README, rules 1 and 11). */
const withLine = (meta: Meta, { type, payload }: Json): Meta => {
  const name = type === 'event_msg' ? nameIn(meta, objectOf(payload)) : undefined
  if (name !== undefined) return { ...meta, name }
  if (type === 'session_meta') return meta.session ? meta : { ...meta, session: neededOf(objectOf(payload)) }
  const cwd = type === 'turn_context' && meta.cwd === undefined ? textOf(objectOf(payload)['cwd']) : undefined
  return cwd === undefined ? meta : { ...meta, cwd }
}

/** The id of the session as the CLI stores it. */
const sessionIdOf = (path: string, { session }: Meta): string =>
  textOf(session?.['id']) ?? threadIdOf(path) ?? basename(path).replace(/\.jsonl(\.zst)?$/, '')

const externalIdOf = (path: string, meta: Meta): string => acceptedId(sessionIdOf(path, meta), 'session')

/** The id of the session that started this one; undefined for sessions that are no sub-agent's. */
const parentOf = ({ session }: Meta): string | undefined => {
  const parent = textOf(session?.['parent'])
  return parent !== undefined && mayBeFrom(session?.['id'], parent) ? parent : undefined
}

/** The session that started this one, or that it goes on with (README, rules 1 and 9). */
const originOf = (meta: Meta): Pick<SessionFields, 'parentExternalId' | 'parentKind'> => {
  const [parent, origin] = [parentOf(meta), textOf(meta.session?.['origin'])]
  if (parent !== undefined) return { parentExternalId: acceptedId(parent, 'session') }
  return origin === undefined ? {} : forkOf(origin)
}

const agentPathOf = ({ session }: Meta): string | undefined => textOf(session?.['agentPath'])

/** The call that started this sub-agent (README, rule 14). */
const spawnOf = async (path: string, meta: Meta): Promise<Spawn | undefined> => {
  const parent = parentOf(meta)
  return parent === undefined
    ? undefined
    : findSpawn(path, parent, { id: sessionIdOf(path, meta), path: agentPathOf(meta) })
}

/** The fields that say how a session began. Where its first part is gone, those of a later one stand for them (README, rule 17). */
const OF_BEGINNING: readonly (keyof SessionFields)[] = [
  ...(['projectPath', 'projectName', 'model', 'gitBranch', 'gitRef', 'gitRemoteUrl'] as const),
  ...(['parentExternalId', 'parentCallId', 'parentKind'] as const),
]

/** The folder in which the session took place, and what git said about it. */
const placeOf = ({ session, cwd }: Meta) => {
  const git = objectOf(session?.['git'])
  return {
    projectPath: textOf(session?.['cwd']) ?? cwd,
    gitBranch: textOf(git['branch']),
    gitRef: textOf(git['commit_hash']),
    gitRemoteUrl: textOf(git['repository_url']),
  }
}

/** How many turns an event takes back; 0 for other events. */
const takenBack = ({ type, num_turns: count }: Json): number =>
  type === 'thread_rolled_back' && typeof count === 'number' && count > 0 ? Math.floor(count) : 0

/** The turns of a session, each of which begins with a prompt, and the lines that were taken back, also noted in `references` (README, rule 12). */
const newTurns = (references: References) => {
  const starts: number[] = []
  const undone: { readonly from: number; readonly to: number }[] = []
  let title = newPromptTitle()
  return {
    notePrompt: (message: SessionMessage): void => {
      title.note(message)
      if (message.role !== 'user' || !message.parts.some(({ type }) => type === 'text')) return
      starts.push(message.order)
    },
    noteEvent: (payload: Json, line: number): void => {
      const count = takenBack(payload)
      if (count === 0) return
      const [from] = starts.splice(Math.max(0, starts.length - count))
      if (from !== undefined) {
        undone.push({ from, to: line })
        references.add(line, from)
      }
      if (starts.length === 0) title = newPromptTitle()
    },
    isUndone: (line: number): boolean => undone.some(({ from, to }) => from <= line && line < to),
    /** The first prompt. */
    title: (): string | undefined => title.best(),
  }
}
type Turns = ReturnType<typeof newTurns>

type State = Omit<Reading, 'agents' | 'agentPath'> & {
  readonly ahead: State | undefined
  readonly ownStart: OwnStart
  readonly outline: Outline
  readonly outcomes: Outcomes
  readonly turns: Turns
  readonly references: References
  readonly usages: Usages
  /** The last message that was yielded of an answer or a compaction. */
  last: SessionMessage | undefined
  meta: Meta
  agents: AgentSessions
  agentPath: string | undefined
}

const start = async ({ lines, ahead }: Start<State>): Promise<State> => {
  const references = newReferences()
  const outcomes = newOutcomes(references)
  return {
    ahead,
    ownStart: ahead?.ownStart ?? (await ownStartOf(lines)),
    meta: {},
    outline: newOutline(),
    calls: newToolCalls(),
    messageId: ahead ? newMessageIds() : noMessageIds,
    outcomes,
    isFailed: (ahead?.outcomes ?? outcomes).isFailed,
    turns: newTurns(references),
    references,
    usages: newUsages(),
    last: undefined,
    agents: new Map(),
    said: {},
    agentPath: undefined,
    model: undefined,
  }
}

/** Whether a line is one of those that a sub-agent was given of its parent's conversation (README, rule 9). */
const isGiven = ({ meta, ownStart }: State, line: number): boolean =>
  line < ownStart.line && parentOf(meta) !== undefined

/** Notes what a line says about other lines: an event, or the result of a call. */
const note = (state: State, { json, number }: ObjectLine): void => {
  const payload = payloadOf(json)
  if (!state.ahead) state.usages.noteLine(json, payload)
  if (json['type'] === 'response_item' && !state.ahead) state.outcomes.noteResult(payload, number)
  if (json['type'] !== 'event_msg') return
  state.outcomes.noteEvent(payload, number)
  state.agents = withAgent(state.agents, payload)
  if (!isGiven(state, number)) state.turns.noteEvent(payload, number)
}

const saysUsage = ({ type, payload }: Json): boolean =>
  type === 'token_usage_record' || (type === 'event_msg' && objectOf(payload)['type'] === 'token_count')

/** A message with what its answer has used, if that is known. */
const withUsage = (state: State, message: SessionMessage): SessionMessage => {
  const usage = state.ahead?.usages.of(message.order)
  return usage ? newMessage({ ...message, usage }) : message
}

/** The last message again, where a line that was added later says what its answer has used (README, rule 16). */
const lateUsage = (state: State): readonly SessionMessage[] => {
  const { last, ahead } = state
  if (!last || last.usage || !ahead || ahead.turns.isUndone(last.order)) return noMessages
  const message = withUsage(state, last)
  if (message === last) return noMessages
  state.last = message
  return [message]
}

/** The message of a line, unless it was given by the parent, or was taken back (README, rules 9 and 12). */
const step = (state: State, line: ObjectLine): readonly SessionMessage[] => {
  state.meta = withLine(state.meta, line.json)
  state.agentPath = agentPathOf(state.meta)
  note(state, line)
  const read = readLine(state, line)
  if (saysUsage(line.json)) return lateUsage(state)
  if (!read || isGiven(state, line.number)) return noMessages
  const isCompaction = line.json['type'] === 'compacted'
  state.outline.note(read)
  // What one agent tells another one is not a turn of the user's, and names no session.
  if (payloadOf(line.json)['type'] !== 'agent_message') state.turns.notePrompt(read)
  // What the copies in a fork have used, its origin tells.
  if (!state.ahead && line.number >= state.ownStart.line) state.usages.noteMessage(read, isCompaction)
  if (state.ahead?.turns.isUndone(line.number)) return noMessages
  const message = withUsage(state, read)
  if (isCompaction || read.role === 'assistant') state.last = message
  return [message]
}

/** Reads the lines of a session (README). */
const parser: LineParser<State> = {
  understands: isRolloutLine,
  sequence: {
    ordinalOf: ({ ordinal }) => (typeof ordinal === 'number' ? ordinal : undefined),
    continues: isSegment,
    folderOf: ({ payload }) => textOf(objectOf(payload)['cwd']),
  },
  unknownIn,
  start,
  step,
  describe: async ({ meta, outline, turns }, path) => {
    const spawn = await spawnOf(path, meta)
    const task = spawn?.task === undefined ? agentPathOf(meta) : titleOf(spawn.task)
    const given = meta.name ?? (await indexedTitle(path, sessionIdOf(path, meta)))
    const title = given ?? turns.title() ?? task
    return {
      externalId: externalIdOf(path, meta),
      ...(isSegment(path) ? { standIns: new Set([...OF_BEGINNING, ...(given === undefined ? ['title'] : [])]) } : {}),
      trace: traceFieldsOf(id, {
        title,
        model: outline.model(),
        ...placeOf(meta),
        ...originOf(meta),
        parentCallId: spawn?.callId,
      }),
    }
  },
  reachesBack: ({ ownStart, references }, added) => !ownStart.isFinal || references.reachBefore(added),
}

/** The first line holds the agent's instructions, and may be longer than the part of the file that is examined. */
const longFirstLine = /^\s*\{"timestamp":"[^"]*",(?:"ordinal":\d+,)?"type":"session_meta","payload":\{/

/**
 * Codex stores sessions as `sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`, archived ones in `archived_sessions`;
 * `README.md` describes how they are read. Raise `version` when the same file gives other messages than before.
 */
export const codex: Agent = {
  id,
  name: 'Codex',
  version: 4,
  roots: (env, home) => SESSION_FOLDERS.map((folder) => join(codexFolder(env, home), folder)),
  isSessionFile: isRollout,
  extensions: ['.jsonl', '.jsonl.zst'],
  recognises: (_path, beginning) => objectsOf(beginning).some(isRolloutLine) || longFirstLine.test(beginning),
  readWith: (path, files) => {
    const uncompressed = path.replace(/\.zst$/, '')
    return uncompressed !== path && files.has(uncompressed) ? uncompressed : undefined
  },
  sessionIn: threadIdOf,
  sessions: sessionPerFile(sessionOfLines(parser), indexedTitle),
}
