import { basename, join } from 'node:path'
import type { Agent, SessionMessage } from '../agent.ts'
import { acceptedId, type LineIds, newLineIds, noMessageIds } from '../support/external-ids.ts'
import { objectsOf, sessionPerFile } from '../support/files.ts'
import { type Json, textOf } from '../support/json.ts'
import { type LineParser, noMessages, type Start } from '../support/line-parser.ts'
import type { ObjectLine } from '../support/lines.ts'
import { type Branches, newBranches, newTree, type Path } from '../support/path.ts'
import { sessionOfLines } from '../support/session-of-lines.ts'
import { forgottenCalls, newToolCalls, type ToolCalls } from '../support/tool-calls.ts'
import { forkOf, storedTitle, traceFieldsOf } from '../support/trace-fields.ts'
import { isConverted, textInVersion1 } from './conversion.ts'
import { readEntry, unknownInMessage } from './messages.ts'

const id = 'pi'

const TYPES = [
  ...['session', 'session_info', 'message', 'compaction', 'branch_summary', 'model_change', 'thinking_level_change'],
  ...['custom', 'custom_message', 'label'],
]

/** Whether a line has the type of an entry that the agent writes. */
const isEntry = ({ type }: Json): boolean => TYPES.includes(String(type))

/** What lines say about the session itself (README, rules 1 and 9). */
type Details = {
  hasHeader?: boolean
  isConverted?: boolean
  sessionId?: string
  projectPath?: string
  /** The path of the session of which this one is a fork. */
  parent?: string
  name?: string | undefined
}

const noteHeader = (details: Details, json: Json): void => {
  if (details.hasHeader) return
  const { id, cwd, parentSession, branchedFrom, title } = json
  const found = { sessionId: textOf(id), projectPath: textOf(cwd), parent: textOf(parentSession ?? branchedFrom) }
  const known = Object.entries({ ...found, name: storedTitle(title) }).filter(([, value]) => value !== undefined)
  Object.assign(details, { hasHeader: true, isConverted: isConverted(json), ...Object.fromEntries(known) })
}

/** Notes what a line says about the session. */
const noteDetails = (details: Details, json: Json): void => {
  if (json['type'] === 'session') noteHeader(details, json)
  // An empty name takes the title away.
  if (json['type'] === 'session_info') details.name = storedTitle(json['name'])
}

/** The state of a reading. The first one, which does not know the path after all lines yet, notes all `branches` instead of making messages. */
type State = {
  readonly ahead: State | undefined
  readonly details: Details
  readonly path: Path
  readonly branches: Branches
  readonly calls: ToolCalls
  readonly lineId: LineIds
}

const start = ({ ahead }: Start<State>): State => ({
  ahead,
  details: {},
  path: newTree(),
  branches: newBranches(),
  calls: newToolCalls(),
  lineId: newLineIds(),
})

const noteBranches = ({ details, path, branches }: State, line: ObjectLine): void => {
  noteDetails(details, line.json)
  if (line.json['type'] === 'session') return
  path.add(line.json, line)
  const message = readEntry(line, forgottenCalls, noMessageIds)
  if (message) branches.note(message)
}

const step = (state: State, line: ObjectLine): readonly SessionMessage[] => {
  const { ahead, calls, lineId } = state
  if (!ahead) {
    noteBranches(state, line)
    return noMessages
  }
  const isOnPath = line.json['type'] !== 'session' && ahead.path.isOnPath(line.number)
  const message = isOnPath
    ? readEntry(line, calls, lineId, textInVersion1(line, ahead.details.isConverted === true))
    : undefined
  return message ? [message] : noMessages
}

/** The session's id in the name of its file, `<time>_<id>.jsonl`. The path may be one of another system. */
const idInName = (path: string): string => {
  const name = basename(path.slice(path.lastIndexOf('\\') + 1), '.jsonl')
  return name.slice(name.indexOf('_') + 1) || name
}

/** Reads the entries of a session (README). */
const parser: LineParser<State> = {
  sequence: { folderOf: ({ type, cwd }) => (type === 'session' ? textOf(cwd) : undefined) },
  understands: isEntry,
  unknownIn: (json) => {
    if (json['type'] === 'message') return unknownInMessage(json)
    return isEntry(json) ? [] : [json['type']]
  },
  start,
  step,
  describe: ({ details, path, branches }, file) => ({
    externalId: acceptedId(details.sessionId ?? idInName(file), 'session'),
    trace: traceFieldsOf(id, {
      title: details.name ?? branches.title(path),
      projectPath: details.projectPath,
      model: branches.model(path),
      ...(details.parent === undefined ? {} : forkOf(idInName(details.parent))),
    }),
  }),
  reachesBack: ({ path }, added) => path.reachesBefore(added),
}

const WITH_ID = /_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/

const isHeader = ({ type, id, timestamp, cwd }: Json): boolean =>
  type === 'session' && [id, timestamp, cwd].every((value) => typeof value === 'string')

/**
 * pi stores sessions as `<root>/--<cwd>--/<time>_<id>.jsonl`; `README.md` describes how they are read. Raise `version` when the
 * same file gives other messages than before.
 */
export const pi: Agent = {
  id,
  name: 'pi',
  version: 4,
  roots: (env, home) => {
    const agentDir = env['PI_CODING_AGENT_DIR'] || join(home, '.pi', 'agent')
    const other = env['PI_CODING_AGENT_SESSION_DIR']
    return [join(agentDir, 'sessions'), ...(other ? [other] : [])]
  },
  isSessionFile: (path) => path.endsWith('.jsonl'),
  extensions: ['.jsonl'],
  recognises: (_path, beginning) => objectsOf(beginning).some(isHeader),
  sessionIn: (path) => WITH_ID.exec(path)?.[1],
  sessions: sessionPerFile(sessionOfLines(parser)),
}
