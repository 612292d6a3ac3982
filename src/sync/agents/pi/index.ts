import { basename, join } from 'node:path'
import type { Agent, SessionMessage } from '../agent.ts'
import { acceptedId, type LineIds, newLineIds, noMessageIds, type SavedIds } from '../support/external-ids.ts'
import { objectsOf, sessionPerFile } from '../support/files.ts'
import { type Json, textOf } from '../support/json.ts'
import { type LineParser, noMessages, type Start } from '../support/line-parser.ts'
import type { ObjectLine } from '../support/lines.ts'
import { sessionOfLines } from '../support/session-of-lines.ts'
import { newToolCalls, type SavedCalls, type ToolCalls } from '../support/tool-calls.ts'
import {
  count,
  mostFrequent,
  newOutline,
  type Outline,
  type SavedOutline,
  storedTitle,
  titleOfPrompt,
  traceFieldsOf,
} from '../support/trace-fields.ts'
import { readEntry } from './messages.ts'
import { newChain, newTree, type Path, type SavedPath } from './path.ts'

const id = 'pi'
const version = 2

const TYPES = [
  ...['session', 'session_info', 'message', 'compaction', 'branch_summary', 'model_change', 'thinking_level_change'],
  ...['custom', 'custom_message', 'label'],
]

/** Whether a line has the type of an entry that the agent writes. */
const isEntry = ({ type }: Json): boolean => TYPES.includes(String(type))

/** What lines say about the session itself, as plain JSON (README, rules 1 and 9). */
type Details = { hasHeader?: boolean; sessionId?: string; projectPath?: string; name?: string }

const noteHeader = (details: Details, { id, cwd }: Json): void => {
  if (details.hasHeader) return
  const [sessionId, projectPath] = [textOf(id), textOf(cwd)]
  Object.assign(details, { hasHeader: true, ...(sessionId && { sessionId }), ...(projectPath && { projectPath }) })
}

/** Notes what a line says about the session. */
const noteDetails = (details: Details, json: Json): void => {
  if (json['type'] === 'session') noteHeader(details, json)
  const name = json['type'] === 'session_info' ? storedTitle(json['name']) : undefined
  if (name !== undefined) details.name = name
}

/** Values of lines, of which each different one is kept once. */
const newLinesByValue = () => {
  const values: string[] = []
  const numberOf = new Map<string, number>()
  const lines: number[] = []
  const numbers: number[] = []
  return {
    add: (line: number, value: string): void => {
      if (!numberOf.has(value)) numberOf.set(value, values.push(value) - 1)
      lines.push(line)
      numbers.push(numberOf.get(value)!)
    },
    onPath: function* ({ isOnPath }: Path): Generator<string> {
      for (const [index, line] of lines.entries()) if (isOnPath(line)) yield values[numbers[index]!]!
    },
  }
}

/** The models and prompts on all branches, because only after the last entry is it known which branch counts. */
const newBranches = () => {
  const [models, titles] = [newLinesByValue(), newLinesByValue()]
  return {
    note: (message: SessionMessage): void => {
      const title = titleOfPrompt(message)
      if (message.model !== undefined) models.add(message.order, message.model)
      if (title !== undefined) titles.add(message.order, title)
    },
    model: (path: Path): string | undefined => {
      const counts = new Map<string, number>()
      for (const model of models.onPath(path)) count(counts, model)
      return mostFrequent(counts)
    },
    /** The first prompt of the path, shortened. */
    title: (path: Path): string | undefined => titles.onPath(path).next().value ?? undefined,
  }
}

/** What later entries need of the entries before them. */
type Saved = {
  readonly details: Details
  readonly path: SavedPath
  readonly outline: SavedOutline
  readonly calls: SavedCalls
  readonly lineIds: SavedIds
}

/**
 * The state of a reading. `finalPath` is the path after all lines. The first reading of a whole file does not know it yet, and notes
 * `branches` instead of the `outline` of the messages on the path. `last` is the line of the last entry.
 */
type State = {
  readonly details: Details
  readonly path: Path
  readonly finalPath: Path | undefined
  readonly branches: ReturnType<typeof newBranches>
  readonly outline: Outline
  readonly calls: ToolCalls
  readonly lineId: LineIds
  last: number
}

const start = ({ saved, ahead }: Start<State, Saved>): State => {
  const path = saved ? newChain(saved.path) : newTree()
  return {
    details: { ...saved?.details },
    path,
    finalPath: saved ? path : ahead?.path,
    branches: newBranches(),
    outline: newOutline(saved?.outline),
    calls: newToolCalls(saved?.calls),
    lineId: newLineIds(saved?.lineIds),
    last: 0,
  }
}

const noteBranches = ({ branches }: State, line: ObjectLine): readonly SessionMessage[] => {
  const message = readEntry(line, newToolCalls(), noMessageIds)
  if (message) branches.note(message)
  return noMessages
}

const step = (state: State, line: ObjectLine): readonly SessionMessage[] => {
  noteDetails(state.details, line.json)
  if (line.json['type'] === 'session') return noMessages
  state.path.add(line.json, line.number)
  state.last = line.number
  if (!state.finalPath) return noteBranches(state, line)
  const message = state.finalPath.isOnPath(line.number) ? readEntry(line, state.calls, state.lineId) : undefined
  if (!message) return noMessages
  state.outline.note(message)
  return [message]
}

/** The session's id in the name of its file, `<time>_<id>.jsonl`. */
const idInName = (path: string): string => {
  const name = basename(path, '.jsonl')
  return name.slice(name.indexOf('_') + 1) || name
}

const save = ({ details, path, finalPath, outline, calls, lineId, last }: State): Saved | undefined => {
  const saved = last === 0 || finalPath?.isOnPath(last) ? path.save() : undefined
  return (
    saved && {
      details: { ...details },
      path: saved,
      outline: outline.save(),
      calls: calls.save(),
      lineIds: lineId.save(),
    }
  )
}

/** Reads the entries of a session (README). Raise the last number of `version` when `Saved` changes. */
const parser: LineParser<State, Saved> = {
  version: `${id}/${version}/1`,
  understands: isEntry,
  start,
  step,
  describe: ({ details, path, finalPath, branches, outline }, file) => ({
    externalId: acceptedId(details.sessionId ?? idInName(file), 'session'),
    trace: traceFieldsOf(id, {
      title: details.name ?? (finalPath ? outline.title() : branches.title(path)),
      projectPath: details.projectPath,
      model: finalPath ? outline.model() : branches.model(path),
    }),
  }),
  save,
}

const isHeader = ({ type, id, timestamp, cwd }: Json): boolean =>
  type === 'session' && [id, timestamp, cwd].every((value) => typeof value === 'string')

/**
 * pi stores sessions as `<root>/--<cwd>--/<time>_<id>.jsonl`; `README.md` describes how they are read. Raise `version` when the
 * same file gives other messages than before.
 */
export const pi: Agent = {
  id,
  name: 'pi',
  version,
  roots: (env, home) => {
    const agentDir = env['PI_CODING_AGENT_DIR'] || join(home, '.pi', 'agent')
    const other = env['PI_CODING_AGENT_SESSION_DIR']
    return [join(agentDir, 'sessions'), ...(other ? [other] : [])]
  },
  isSessionFile: (path) => path.endsWith('.jsonl'),
  extensions: ['.jsonl'],
  recognises: (_path, beginning) => objectsOf(beginning).some(isHeader),
  sessions: sessionPerFile(sessionOfLines(parser)),
}
