import { existsSync, statSync } from 'node:fs'
import type { Agent, SessionMessage, SessionWithin } from '../agent.ts'
import { type LineIds, newLineIds } from '../support/external-ids.ts'
import { objectsOf, sessionPerFile } from '../support/files.ts'
import { type HashedMap, newHashedMap } from '../support/hashed-map.ts'
import { type LineParser, noMessages, type Start } from '../support/line-parser.ts'
import { textOf } from '../support/json.ts'
import { linesInParts, type ObjectLine } from '../support/lines.ts'
import type { Parts } from '../support/sequence.ts'
import { newReferences, type References } from '../support/references.ts'
import { sessionOfLines } from '../support/session-of-lines.ts'
import { newToolCalls, type ToolCalls } from '../support/tool-calls.ts'
import { newAnswers, newDrafts } from './answers.ts'
import { newCompactions } from './compactions.ts'
import { modelOf } from './content.ts'
import { type EarlyResults, newEarlyResults } from './early-results.ts'
import { keepLine } from './kept-line.ts'
import { beginsLikeLine, isKnownLine, unknownIn } from './known-lines.ts'
import { answerId, extendAnswer, type OpenAnswer, readLine } from './messages.ts'
import { asInline, isSubAgent, newOutline, type Outline, parentCallOf } from './outline.ts'
import { wholeOutput } from './persisted.ts'
import { isSessionFile, keptDays, sessionFolders, sessionIn, skipsFolder } from './places.ts'
import { type Inline, inlineScope, type Scope, sessionScope, wholeFile, withoutInlines } from './scope.ts'
import { usedBytes } from './used-bytes.ts'

const id = 'claude-code'

type State = {
  readonly ahead: State | undefined
  readonly scope: Scope
  readonly references: References
  readonly uuids: HashedMap
  readonly answers: ReturnType<typeof newAnswers>
  readonly drafts: ReturnType<typeof newDrafts>
  readonly calls: ToolCalls
  readonly compactions: ReturnType<typeof newCompactions>
  readonly early: EarlyResults
  readonly path: string
  /** All files of the session. */
  readonly parts: Parts
  readonly lineId: LineIds
  readonly outline: Outline
}

const start = ({ path, parts, ahead }: Start<State>, scope: Scope): State => {
  const references = newReferences()
  return {
    ahead,
    scope,
    path,
    parts,
    references,
    calls: newToolCalls(ahead?.early.nameOf),
    early: newEarlyResults(references),
    uuids: newHashedMap(),
    answers: newAnswers(references),
    drafts: newDrafts(),
    compactions: newCompactions(),
    lineId: newLineIds(),
    outline: newOutline(),
  }
}

/** Whether a line counts (README, rules 1 and 2). */
const isOwnLine = ({ uuids, scope }: State, { json }: ObjectLine): boolean => {
  const { uuid } = json
  if (typeof uuid === 'string' && !uuids.add(uuid)) return false
  scope.note(json)
  return scope.has(json)
}

/** Notes what a line says of the session and of the answer that it belongs to. */
const note = ({ answers, outline, early }: State, line: ObjectLine, answer: string | undefined): void => {
  const model = line.json['type'] === 'assistant' ? modelOf(line.json) : undefined
  const isNew = answer === undefined || answers.add(answer, line.number, model !== undefined)
  outline.note(line, isNew ? model : undefined)
  early.note(line, answer)
}

/** The answer that a line completes, with the parts of all its lines (README, rule 3); undefined when more follow. */
const completeAnswer = (
  { drafts, calls }: State,
  ahead: State,
  line: ObjectLine,
  id: string,
): OpenAnswer | undefined => {
  const draft = extendAnswer(calls, line, id, drafts.get(id))
  const isComplete = ahead.answers.isLast(id, line.number)
  if (isComplete) drafts.complete(id, draft)
  else drafts.keep(id, draft)
  return isComplete ? draft : undefined
}

/** The message of a line that is a message of its own. */
const ownMessageOf = (
  { calls, path, lineId, compactions }: State,
  ahead: State,
  line: ObjectLine,
): SessionMessage | undefined => {
  const file = line.path ?? path
  const context = { calls, wholeOutput: (output: string) => wholeOutput(output, file, line.json['sessionId']) }
  const message = readLine(context, line, { lineId, order: ahead.early.orderOf(line.number) })
  const order = compactions.orderOf(line, message)
  return message && order !== undefined ? { ...message, order } : message
}

const step = (state: State, line: ObjectLine): readonly SessionMessage[] => {
  if (!isOwnLine(state, line)) return noMessages
  const answer = answerId(line.json)
  const { ahead } = state
  if (!ahead) {
    note(state, line, answer)
    return noMessages
  }
  const message = answer === undefined ? ownMessageOf(state, ahead, line) : completeAnswer(state, ahead, line, answer)
  return message && message.parts.length > 0 ? [message] : noMessages
}

/** A sub-agent within the file of a session, and that session's id. */
type OfSession = Inline & { readonly sessionId: string }

/** Reads the lines of a session, or of a sub-agent within its file (README). */
const newParser = (inline?: OfSession): LineParser<State> => {
  const scopeOf = ({ path, ahead }: Start<State>): Scope => {
    if (isSubAgent(path)) return wholeFile
    if (inline) return inlineScope(inline.id)
    return ahead ? withoutInlines : sessionScope()
  }
  return {
    sequence: { idOf: ({ uuid }) => textOf(uuid), folderOf: ({ cwd }) => textOf(cwd) },
    understands: isKnownLine,
    unknownIn: (json, { scope }) => (scope.isOfAnother(json) ? [] : unknownIn(json, !!inline || scope === wholeFile)),
    keep: keepLine,
    start: (begin) => start(begin, scopeOf(begin)),
    step,
    describe: ({ outline, uuids, scope, parts }, path) => {
      const described = outline.describe(id, path, (uuid) => uuids.get(uuid) !== undefined)
      const within = scope.inlines().map((each) => sessionWithin(parts, { ...each, sessionId: described.externalId }))
      return inline ? asInline(described, inline) : within.length === 0 ? described : { ...described, within }
    },
    reachesBack: ({ references }, added) => references.reachBefore(added),
  }
}

const readLines = linesInParts(usedBytes)

/** The same files with all that they have now, without those that are gone. */
const asTheyAre = (parts: Parts): Parts =>
  parts.flatMap(({ path }) => (existsSync(path) ? [{ path, size: statSync(path).size }] : [])) as unknown as Parts

/** What damaged lines have lost is told of the session. It is read whole. */
const sessionWithin = (parts: Parts, inline: OfSession): SessionWithin => ({
  id: inline.id,
  read: () => sessionOfLines(newParser(inline), readLines)(asTheyAre(parts), { onMalformed: () => {} }),
})

/**
 * Claude Code stores sessions as `<root>/<encoded cwd>/<session id>.jsonl`, and sub-agents as `agent-<id>.jsonl`; `README.md`
 * describes how they are read. Raise `version` when the same file gives other messages than before. No field is common to all
 * lines, so a file in another folder is recognised by the fields of any of its first lines.
 */
export const claudeCode: Agent = {
  id,
  name: 'Claude Code',
  version: 4,
  roots: sessionFolders,
  skipsFolder,
  isSessionFile,
  extensions: ['.jsonl'],
  recognises: (_path, beginning) => objectsOf(beginning).some(isKnownLine) || beginsLikeLine(beginning),
  keptDays,
  sessionIn,
  sessions: sessionPerFile(sessionOfLines(newParser(), readLines), parentCallOf),
}
