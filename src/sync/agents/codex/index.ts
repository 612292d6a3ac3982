import { basename, join } from 'node:path'
import type { Agent, SessionMessage } from '../agent.ts'
import {
  acceptedId,
  type MessageIds,
  newMessageIds,
  noMessageIds,
  type SavedMessageIds,
} from '../support/external-ids.ts'
import { objectsOf, sessionPerFile } from '../support/files.ts'
import { type Json, objectOf, textOf } from '../support/json.ts'
import { type LineParser, NeedsWhole, noMessages, type Start } from '../support/line-parser.ts'
import type { ObjectLine } from '../support/lines.ts'
import { sessionOfLines } from '../support/session-of-lines.ts'
import { newToolCalls, type SavedCalls } from '../support/tool-calls.ts'
import {
  newOutline,
  type Outline,
  type SavedOutline,
  storedTitle,
  titleOfPrompt,
  traceFieldsOf,
} from '../support/trace-fields.ts'
import { type AgentSessions, withAgent } from './content.ts'
import { indexedTitle, isRollout, SESSION_FOLDERS, threadIdOf } from './files.ts'
import { type OwnStart, ownStartOf } from './fork.ts'
import { isRolloutLine, payloadOf, type Reading, readLine } from './messages.ts'
import { newOutcomes, type Outcomes, type SavedOutcomes } from './outcomes.ts'

const id = 'codex'
const version = 2

/** What lines say about the session itself, as plain JSON. `session` is the part of its `session_meta` that is used. */
type Meta = { readonly session?: Json; readonly cwd?: string; readonly name?: string }

/** The thread that started this sub-agent's. Newer versions also store it beside the thread's id. */
const parentIn = ({ parent_thread_id, source }: Json): unknown =>
  textOf(parent_thread_id) ?? objectOf(objectOf(objectOf(source)['subagent'])['thread_spawn'])['parent_thread_id']

const neededOf = (session: Json): Json => {
  const { id, cwd, git } = session
  const { branch, commit_hash, repository_url } = objectOf(git)
  return { id, cwd, git: { branch, commit_hash, repository_url }, parent: parentIn(session) }
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

/** The externalId of the session that started this one. */
const parentOf = ({ session }: Meta): string | undefined => {
  const parent = textOf(session?.['parent'])
  return parent === undefined ? undefined : acceptedId(parent, 'session')
}

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

/** What is kept of turns, as plain JSON: the title that the first one gives. */
type SavedTurns = { readonly title?: string | undefined }

/** How many turns an event takes back; 0 for other events. */
const takenBack = ({ type, num_turns: count }: Json): number =>
  type === 'thread_rolled_back' && typeof count === 'number' && count > 0 ? Math.floor(count) : 0

/** The turns of a session, each of which begins with a prompt, and the lines that were taken back (README, rule 12). */
const newTurns = (saved?: SavedTurns) => {
  const starts: number[] = []
  const undone: { readonly from: number; readonly to: number }[] = []
  let title = saved?.title
  let changes = 0
  return {
    notePrompt: (message: SessionMessage): void => {
      if (message.role !== 'user' || !message.parts.some(({ type }) => type === 'text')) return
      changes++
      starts.push(message.order)
      title ??= titleOfPrompt(message)
    },
    /** Throws NeedsWhole if turns are taken back that come before the saved state. */
    noteEvent: (payload: Json, line: number): void => {
      const count = takenBack(payload)
      if (count === 0) return
      changes++
      if (saved && count > starts.length) throw new NeedsWhole()
      const [from] = starts.splice(Math.max(0, starts.length - count))
      if (from !== undefined) undone.push({ from, to: line })
      if (starts.length === 0) title = saved?.title
    },
    isUndone: (line: number): boolean => undone.some(({ from, to }) => from <= line && line < to),
    /** A number that grows with each prompt, and each time that turns are taken back. */
    changes: () => changes,
    /** The first prompt, shortened. */
    title: () => title,
    save: (): SavedTurns => ({ title }),
  }
}
type Turns = ReturnType<typeof newTurns>

/** What later lines need of the lines before them. */
type Saved = {
  readonly ownStart: OwnStart
  readonly meta: Meta
  readonly outline: SavedOutline
  readonly calls: SavedCalls
  readonly ids: SavedMessageIds
  readonly outcomes: SavedOutcomes
  readonly turns: SavedTurns
  readonly agents: readonly (readonly [string, string])[]
  readonly model?: string | undefined
}

type State = Omit<Reading, 'agents'> & {
  readonly ahead: State | undefined
  readonly ownStart: OwnStart
  readonly outline: Outline
  readonly ids: MessageIds | undefined
  readonly outcomes: Outcomes
  readonly turns: Turns
  meta: Meta
  agents: AgentSessions
}

const start = async ({ path, size, saved, ahead }: Start<State, Saved>): Promise<State> => {
  const ids = ahead && newMessageIds(saved?.ids)
  const outcomes = newOutcomes(saved?.outcomes)
  return {
    ahead,
    ownStart: saved?.ownStart ?? ahead?.ownStart ?? (await ownStartOf(path, size)),
    meta: saved?.meta ?? {},
    outline: newOutline(saved?.outline),
    calls: newToolCalls(saved?.calls),
    ids,
    messageId: ids ?? noMessageIds,
    outcomes,
    isFailed: (ahead?.outcomes ?? outcomes).isFailed,
    turns: newTurns(saved?.turns),
    agents: new Map(saved?.agents),
    model: saved?.model,
  }
}

/** Notes what a line says about other lines: an event, or the result of a call. */
const note = (state: State, { json, number }: ObjectLine): void => {
  const payload = payloadOf(json)
  if (json['type'] === 'response_item' && state.ids) state.outcomes.noteResult(payload)
  if (json['type'] !== 'event_msg') return
  state.outcomes.noteEvent(payload)
  state.agents = withAgent(state.agents, payload)
  if (number >= state.ownStart.line) state.turns.noteEvent(payload, number)
}

/** The message of a line, unless it is copied from the parent session, or was taken back (README, rules 9 and 12). */
const step = (state: State, line: ObjectLine): readonly SessionMessage[] => {
  state.meta = withLine(state.meta, line.json)
  note(state, line)
  const message = readLine(state, line)
  if (!message || line.number < state.ownStart.line) return noMessages
  state.outline.note(message)
  state.turns.notePrompt(message)
  return state.ahead?.turns.isUndone(line.number) ? noMessages : [message]
}

/** Undefined if the last line begins a turn or takes turns back but has no newline yet: it may still become another line. */
const save = (state: State): Saved | undefined => {
  const { ahead, ownStart, meta, outline, calls, ids, outcomes, turns, agents, model } = state
  if (!ids || !ownStart.isFinal || turns.changes() !== ahead?.turns.changes()) return undefined
  return {
    ownStart,
    meta,
    model,
    outline: outline.save(),
    calls: calls.save(),
    ids: ids.save(),
    outcomes: outcomes.save(),
    turns: turns.save(),
    agents: [...agents],
  }
}

/** Reads the lines of a session (README). Raise the last number of `version` when `Saved` changes. */
const parser: LineParser<State, Saved> = {
  version: `${id}/${version}/2`,
  understands: isRolloutLine,
  start,
  step,
  describe: async ({ meta, outline, turns }, path) => {
    const title = meta.name ?? (await indexedTitle(path, sessionIdOf(path, meta))) ?? turns.title()
    return {
      externalId: externalIdOf(path, meta),
      trace: traceFieldsOf(id, {
        title,
        model: outline.model(),
        ...placeOf(meta),
        parentExternalId: parentOf(meta),
      }),
    }
  },
  save,
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
  version,
  roots: (env, home) => SESSION_FOLDERS.map((folder) => join(env['CODEX_HOME'] || join(home, '.codex'), folder)),
  isSessionFile: isRollout,
  extensions: ['.jsonl', '.jsonl.zst'],
  recognises: (_path, beginning) => objectsOf(beginning).some(isRolloutLine) || longFirstLine.test(beginning),
  isSuperseded: (path, files) => path.endsWith('.zst') && files.has(path.slice(0, -'.zst'.length)),
  sessions: sessionPerFile(sessionOfLines(parser), indexedTitle),
}
