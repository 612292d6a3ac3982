import type { Agent, SessionMessage } from '../agent.ts'
import { type LineIds, newLineIds, type SavedIds } from '../support/external-ids.ts'
import { objectsOf, sessionPerFile } from '../support/files.ts'
import { type HashedMap, newHashedMap, type SavedMap } from '../support/hashed-map.ts'
import { type LineParser, noMessages, type Start } from '../support/line-parser.ts'
import { linesInParts, type ObjectLine } from '../support/lines.ts'
import { sessionOfLines } from '../support/session-of-lines.ts'
import { newToolCalls, type SavedCalls, type ToolCalls } from '../support/tool-calls.ts'
import { newAnswers } from './answers.ts'
import { modelOf } from './content.ts'
import { type EarlyResults, newEarlyResults, type SavedResults } from './early-results.ts'
import { keepLine } from './kept-line.ts'
import { beginsLikeLine, isKnownLine } from './known-lines.ts'
import { answerId, extendAnswer, type OpenAnswer, readLine } from './messages.ts'
import { isSubAgent, newOutline, type Outline, type SavedOutline } from './outline.ts'
import { wholeOutput } from './persisted.ts'
import { isSessionFile, keptDays, sessionFolders, skipsFolder } from './places.ts'
import { usedBytes } from './used-bytes.ts'

const id = 'claude-code'
const version = 2

/** What later lines need of the lines before them. */
type Saved = {
  readonly uuids: SavedMap
  readonly answers: SavedMap
  readonly calls: SavedCalls
  readonly lineIds: SavedIds
  readonly early: SavedResults
  readonly outline: SavedOutline
}

/**
 * The state of a reading. `open` holds the answers whose last line has not been read yet. `end` is the offset at which the last line
 * ends, `last` its number.
 */
type State = {
  readonly ahead: State | undefined
  /** False in the first reading of a whole file, from which no messages are taken. */
  readonly makesMessages: boolean
  /** Whether lines of sub-agents are the content (README, rule 2). */
  readonly sidechains: boolean
  readonly uuids: HashedMap
  readonly answers: ReturnType<typeof newAnswers>
  readonly calls: ToolCalls
  readonly early: EarlyResults
  readonly path: string
  readonly lineId: LineIds
  readonly outline: Outline
  readonly open: Map<string, OpenAnswer>
  end: number
  last: number
}

const start = ({ path, saved, ahead }: Start<State, Saved>): State => {
  const calls = newToolCalls(saved?.calls, ahead?.early.nameOf)
  return {
    ahead,
    path,
    calls,
    early: newEarlyResults(saved?.early, calls.isKnown),
    makesMessages: saved !== undefined || ahead !== undefined,
    sidechains: isSubAgent(path),
    uuids: newHashedMap(saved?.uuids),
    answers: newAnswers(saved?.answers),
    lineId: newLineIds(saved?.lineIds),
    outline: newOutline(saved?.outline),
    open: new Map(),
    end: 0,
    last: 0,
  }
}

/** Whether a line counts (README, rules 1 and 2). */
const isOwnLine = ({ uuids, sidechains }: State, { json }: ObjectLine): boolean => {
  const { uuid, isSidechain } = json
  return (typeof uuid !== 'string' || uuids.add(uuid)) && (sidechains || isSidechain !== true)
}

/** Notes what a line says of the session and of the answer that it belongs to. */
const note = ({ answers, outline }: State, line: ObjectLine, answer: string | undefined): void => {
  const model = line.json['type'] === 'assistant' ? modelOf(line.json) : undefined
  const isNew = answer === undefined || answers.add(answer, line, model !== undefined)
  outline.note(line, isNew ? model : undefined)
}

/** The answer that a line completes, with the parts of all its lines (README, rule 3); undefined when more follow. */
const completeAnswer = ({ ahead, open, calls }: State, line: ObjectLine, id: string): OpenAnswer | undefined => {
  const draft = extendAnswer(calls, line, id, open.get(id))
  if (ahead?.answers.isLast(id, line.number) === false) return void open.set(id, draft)
  open.delete(id)
  return draft
}

/** The message of a line that is a message of its own. */
const ownMessageOf = ({ ahead, calls, early, path, lineId }: State, line: ObjectLine): SessionMessage | undefined => {
  const context = { calls, wholeOutput: (output: string) => wholeOutput(output, path, line.json['sessionId']) }
  return readLine(context, line, { lineId, order: (ahead?.early ?? early).orderOf(line.number) })
}

const step = (state: State, line: ObjectLine): readonly SessionMessage[] => {
  if (!isOwnLine(state, line)) return noMessages
  const answer = answerId(line.json)
  note(state, line, answer)
  if (!state.ahead) state.early.note(line, answer)
  state.last = line.number
  state.end = line.offset + line.size
  if (!state.makesMessages) return noMessages
  const message = answer === undefined ? ownMessageOf(state, line) : completeAnswer(state, line, answer)
  return message && message.parts.length > 0 ? [message] : noMessages
}

/** Undefined while an answer is open: its last line has no newline yet, and may still become another line. */
const save = ({ ahead, open, uuids, answers, calls, early, lineId, outline, last }: State): Saved | undefined =>
  open.size > 0
    ? undefined
    : {
        uuids: uuids.saveKeys(),
        answers: answers.save(),
        calls: calls.save(),
        lineIds: lineId.save(),
        early: (ahead?.early ?? early).save(last),
        outline: outline.save((uuid) => uuids.get(uuid) !== undefined),
      }

/** Reads the lines of a session (README). Raise the last number of `version` when `Saved` changes. */
const parser: LineParser<State, Saved> = {
  version: `${id}/${version}/1`,
  understands: isKnownLine,
  keep: keepLine,
  start,
  step,
  describe: ({ outline, uuids }, path) => outline.describe(id, path, (uuid) => uuids.get(uuid) !== undefined),
  firstOpenLine: ({ answers, end }) => answers.firstOpenLine(end),
  save,
}

/**
 * Claude Code stores sessions as `<root>/<encoded cwd>/<session id>.jsonl`, and sub-agents as `agent-<id>.jsonl`; `README.md`
 * describes how they are read. Raise `version` when the same file gives other messages than before. No field is common to all
 * lines, so a file in another folder is recognised by the fields of any of its first lines.
 */
export const claudeCode: Agent = {
  id,
  name: 'Claude Code',
  version,
  roots: sessionFolders,
  skipsFolder,
  isSessionFile,
  extensions: ['.jsonl'],
  recognises: (_path, beginning) => objectsOf(beginning).some(isKnownLine) || beginsLikeLine(beginning),
  keptDays,
  sessions: sessionPerFile(sessionOfLines(parser, linesInParts(usedBytes))),
}
