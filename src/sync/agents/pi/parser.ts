import { basename } from 'node:path'
import type { SessionMessage } from '../agent.ts'
import { acceptedId, type LineIds, newLineIds, noMessageIds, type SavedIds } from '../support/external-ids.ts'
import { type LineParser, noMessages, type Start } from '../support/line-parser.ts'
import type { ObjectLine } from '../support/lines.ts'
import { newOutline, type Outline, type SavedOutline, traceFieldsOf } from '../support/trace-fields.ts'
import { newToolCalls, type SavedCalls, type ToolCalls } from '../support/tool-calls.ts'
import { readEntry } from './messages.ts'
import { type Details, isEntry, newBranches, noteDetails } from './outline.ts'
import { newChain, newTree, type Path, type SavedPath } from './path.ts'

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

/** Reads the entries of a session (README). Raise the number in `version` when `Saved` changes. */
export const parserOf = (agentId: string, version: number): LineParser<State, Saved> => ({
  version: `${agentId}/${version}/1`,
  understands: isEntry,
  start,
  step,
  describe: ({ details, path, finalPath, branches, outline }, file) => ({
    externalId: acceptedId(details.sessionId ?? idInName(file), 'session'),
    trace: traceFieldsOf(agentId, {
      title: details.name ?? (finalPath ? outline.title() : branches.title(path)),
      projectPath: details.projectPath,
      model: finalPath ? outline.model() : branches.model(path),
    }),
  }),
  save,
})
