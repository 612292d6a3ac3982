import { basename, join, sep } from 'node:path'
import type { Agent, SessionMessage } from '../agent.ts'
import { newLineIds, noMessageIds } from '../support/external-ids.ts'
import { objectsOf, sessionPerFile } from '../support/files.ts'
import { textOf } from '../support/json.ts'
import { type LineParser, noMessages, type Start } from '../support/line-parser.ts'
import type { ObjectLine } from '../support/lines.ts'
import { type Branches, newBranches, newTree, type Path } from '../support/path.ts'
import { sessionOfLines } from '../support/session-of-lines.ts'
import { storedTitle, traceFieldsOf } from '../support/trace-fields.ts'
import { newReading, type Reading, readRecord } from './messages.ts'
import {
  agentOf,
  beginsLikeRecord,
  descriptionOf,
  type Details,
  externalIdOf,
  isInTree,
  isRecord,
  noteDetails,
  originOf,
  unknownIn,
} from './session.ts'

const id = 'qwen-code'

/** `finalPath` is the path after all records: the first reading, which does not know it yet, only notes all `branches`. */
type State = {
  readonly details: Details
  readonly path: Path
  readonly finalPath: Path | undefined
  readonly branches: Branches
  readonly reading: Reading
}

const start = ({ ahead }: Start<State>): State => ({
  details: {},
  path: newTree(),
  finalPath: ahead?.path,
  branches: newBranches(),
  reading: newReading(ahead ? newLineIds() : noMessageIds),
})

const step = ({ details, path, finalPath, branches, reading }: State, line: ObjectLine): readonly SessionMessage[] => {
  const { json, number } = line
  if (finalPath && !finalPath.isOnPath(number)) return noMessages
  if (!finalPath) {
    noteDetails(details, line)
    if (isInTree(json)) path.add({ id: json['uuid'], parentId: json['parentUuid'] }, line)
  }
  const message = readRecord(line, reading)
  if (!message) return noMessages
  if (!finalPath) branches.note(message)
  return finalPath ? [message] : noMessages
}

/** Reads the records of a session (README). */
const parser: LineParser<State> = {
  sequence: { idOf: ({ uuid }) => textOf(uuid), folderOf: ({ cwd }) => textOf(cwd) },
  understands: isRecord,
  unknownIn,
  start,
  step,
  describe: ({ details, path, branches }, file) => {
    const agent = agentOf(file)
    return {
      externalId: externalIdOf(file, details),
      trace: traceFieldsOf(id, {
        title: details.title ?? storedTitle(agent['description']) ?? branches.title(path),
        projectPath: details.projectPath,
        model: branches.model(path) ?? textOf(agent['model']),
        gitBranch: details.gitBranch,
        ...originOf(file, details, agent),
      }),
    }
  },
  reachesBack: ({ path }, added) => path.reachesBefore(added),
}

const WITH_ID = /[\\/]([0-9a-f-]{36}|[0-9a-f-]{36}[\\/]agent-[^\\/]+)\.jsonl$/

/** `chats`, `chats/archive`, and sub-agents in a folder for each session. */
const SESSION = /[\\/](?:chats(?:[\\/]archive)?[\\/][^\\/.][^\\/]*|subagents[\\/][^\\/]+[\\/]agent-[^\\/]+)\.jsonl$/

/**
 * Qwen Code stores sessions as `<root>/<project>/chats/<session id>.jsonl`, and sub-agents as
 * `<root>/<project>/subagents/<session id>/agent-<id>.jsonl`; `README.md` describes how they are read. Raise `version` when the same file
 * gives other messages.
 */
export const qwenCode: Agent = {
  id,
  name: 'Qwen Code',
  version: 2,
  roots: (env, home) => {
    const other = env['QWEN_RUNTIME_DIR']
    return [join(env['QWEN_HOME'] || join(home, '.qwen'), 'projects'), ...(other ? [join(other, 'projects')] : [])]
  },
  skipsFolder: (path) => path.split(sep).length === 2 && !['chats', 'subagents'].includes(basename(path)),
  isSessionFile: (path) => SESSION.test(path),
  extensions: ['.jsonl'],
  recognises: (_path, beginning) => objectsOf(beginning).some(isRecord) || beginsLikeRecord(beginning),
  sessionIn: (path) => WITH_ID.exec(path)?.[1],
  sessions: sessionPerFile(sessionOfLines(parser), descriptionOf),
}
