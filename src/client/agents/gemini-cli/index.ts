import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, join, sep } from 'node:path'
import type { Agent, SessionMessage } from '../agent.ts'
import { acceptedId } from '../support/external-ids.ts'
import { sessionPerFile } from '../support/files.ts'
import { contentText } from '../support/gemini-content.ts'
import { type Json, objectOf, parseObject, textOf } from '../support/json.ts'
import { type Described, type LineParser, noMessages, type Start } from '../support/line-parser.ts'
import { type ObjectLine, objectLinesInParts, type OnDamaged, type Place } from '../support/lines.ts'
import { sessionOfLines } from '../support/session-of-lines.ts'
import { mostFrequent, titleOf, titleOfPrompt, traceFieldsOf } from '../support/trace-fields.ts'
import {
  applyLine,
  type History,
  isRecord,
  isWholeRecord,
  metadataOf,
  newHistory,
  type Note,
  summaryOf,
} from './history.ts'
import { draftOf, messagesOf, unknownIn } from './messages.ts'
import { parentCallOf, parentOf } from './parents.ts'

const id = 'gemini-cli'

const read = (path: string): Promise<string | undefined> => readFile(path, 'utf8').catch(() => undefined)

const hashOf = (path: string): string => createHash('sha256').update(path).digest('hex')

const strings = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []

/** The folder `<root>/<project>` that holds `chats`; undefined for a file elsewhere. */
const projectFolder = (path: string): string | undefined => {
  const end = path.lastIndexOf(`${sep}chats${sep}`)
  return end === -1 ? undefined : path.slice(0, end)
}

/** The path of the session's project; undefined if the CLI's files do not name it (README, rule 9). */
const projectPathOf = async (path: string, metadata: Json): Promise<string | undefined> => {
  const folder = projectFolder(path)
  const named = folder && textOf(await read(join(folder, '.project_root')))
  if (named) return named.trim()
  const registry = folder && parseObject((await read(join(folder, '..', '..', 'projects.json'))) ?? '')
  const candidates = [...Object.keys(objectOf(objectOf(registry)['projects'])), ...strings(metadata['directories'])]
  return candidates.find((candidate) => hashOf(candidate) === metadata['projectHash']) ?? textOf(metadata['workspace'])
}

const workspace = /^\s*<session_context>[^]*?\bWorkspace Directories:\**[ \t]*\n[ \t]*- ([^\n]+)/

/** The first folder of those in which the session takes place, as the CLI tells the model in front of the first prompt. */
const workspaceIn = ({ content }: Json): string | undefined => workspace.exec(contentText(content) ?? '')?.[1]?.trim()

type State = {
  readonly ahead: State | undefined
  readonly history: History
  readonly metadata: Record<string, unknown>
}

const noteOf = (message: Json, metadata: State['metadata']): Note => {
  if (message['type'] === 'gemini') return { model: textOf(message['model']) }
  const draft = message['type'] === 'user' ? draftOf(message, '') : undefined
  if (draft) metadata['workspace'] ??= workspaceIn(message)
  return draft ? { prompt: titleOfPrompt(draft) } : {}
}

const start = ({ ahead }: Start<State>): State => ({ ahead, history: newHistory(), metadata: {} })

const step = ({ ahead, history, metadata }: State, line: ObjectLine): readonly SessionMessage[] => {
  if (ahead) return messagesOf(line, ahead.history)
  applyLine(history, line, (message) => noteOf(message, metadata))
  // Only the metadata that is used, and none of the messages.
  for (const [key, value] of Object.entries(metadataOf(line) ?? {}))
    if (['sessionId', 'projectHash', 'summary', 'directories'].includes(key)) metadata[key] = value
  return noMessages
}

/** The trace's id and fields (README, rules 8 and 9). */
const describe = async ({ history, metadata }: State, path: string): Promise<Described> => {
  const { models, title } = summaryOf(history)
  const summary = textOf(metadata['summary'])
  return {
    externalId: acceptedId(textOf(metadata['sessionId']) ?? basename(path).replace(/\.jsonl?$/, ''), 'session'),
    trace: traceFieldsOf(id, {
      title: summary === undefined ? title : titleOf(summary),
      projectPath: await projectPathOf(path, metadata),
      model: mostFrequent(models),
      parentExternalId: parentOf(path),
      parentCallId: await parentCallOf(path),
    }),
  }
}

/** Reads the records of a session (README). */
const parser: LineParser<State> = {
  sequence: { folderOf: (json, path) => ('projectHash' in json ? projectPathOf(path, json) : undefined) },
  understands: isRecord,
  unknownIn,
  start,
  step,
  describe,
  reachesBack: ({ history }, added) => history.removedAt >= added,
}

const MAX_DOCUMENT = 32 << 20

const recordsInParts = objectLinesInParts(isWholeRecord)

/** The records of a session file, in order. A document is a single record, which never ends (README, rules 4 and 10). */
async function* records(
  path: string,
  size: number,
  onDamaged: OnDamaged,
  at: Place,
): AsyncGenerator<Iterable<ObjectLine>> {
  if (!path.endsWith('.json')) return yield* recordsInParts(path, size, onDamaged, at)
  if (size > MAX_DOCUMENT)
    throw new Error(
      `expected a JSON document of at most 32 MiB, because it is parsed as a whole, got ${Math.ceil(size / 2 ** 20)} MiB`,
    )
  const text = (await readFile(path, 'utf8')).trim()
  const json = parseObject(text)
  if (json) yield [{ number: 1, ended: false, text, json }]
  else if (text !== '') onDamaged(1, size)
}

/** Looks into a document, or into the first line of records. Text that a session quotes has escaped quotation marks, and does not match. */
const looksLike = (path: string, beginning: string): boolean => {
  const head = path.endsWith('.jsonl') ? beginning.slice(0, (beginning.indexOf('\n') + 1 || Infinity) - 1) : beginning
  if (!/^\s*\{/.test(head)) return false
  if (/"sessionId"\s*:/.test(head) && /"projectHash"\s*:/.test(head)) return true
  return path.endsWith('.json') && /"(?:type|role)"\s*:\s*"gemini"/.test(head)
}

const NAME = /[\\/](session-\d{4}-\d\d-\d\dT\d\d-\d\d-[0-9a-f]{8}|[0-9a-f-]{36}[\\/][0-9a-f-]{36})\.jsonl$/

/**
 * Gemini CLI stores sessions as `<root>/<project>/chats/session-<time>-<id>.jsonl`, formerly `.json`, and sub-agents in a folder
 * of their parent below; `README.md` describes how they are read. Raise `version` when the same file gives other messages.
 */
export const geminiCli: Agent = {
  id,
  name: 'Gemini CLI',
  version: 4,
  roots: (env, home) => [join(env['GEMINI_CLI_HOME'] || home, '.gemini', 'tmp')],
  skipsFolder: (path) => path.split(sep).length === 2 && basename(path) !== 'chats',
  isSessionFile: (path) => /[\\/]chats[\\/](?:session-[^\\/]*\.jsonl?|[^\\/]+[\\/][^\\/]+\.jsonl)$/.test(path),
  extensions: ['.jsonl', '.json'],
  recognises: looksLike,
  readWith: (path, files) => (path.endsWith('.json') && files.has(`${path}l`) ? `${path}l` : undefined),
  sessionIn: (path) => NAME.exec(path)?.[1],
  sessions: sessionPerFile(sessionOfLines(parser, records), parentCallOf),
}
