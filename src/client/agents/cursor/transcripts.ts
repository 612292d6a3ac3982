import { basename, extname, join } from 'node:path'
import type { StoredSession, SessionFields } from '../agent.ts'
import { acceptedId } from '../support/external-ids.ts'
import { type ReadSessionFiles, sessionPerFile } from '../support/files.ts'
import { type LineParser, noMessages } from '../support/line-parser.ts'
import { sessionOfLines } from '../support/session-of-lines.ts'
import { sessionOfMessages } from '../support/session-of-messages.ts'
import { newOutline, type Outline, traceFieldsOf } from '../support/trace-fields.ts'
import { composerList } from './composers.ts'
import { databasesOfTranscript, projectFolderOf, storesOfTranscript } from './places.ts'
import { isKnownStore } from './stores.ts'
import {
  isTranscriptLine,
  messagesOfText,
  newReading,
  type Reading,
  readLine,
  unknownIn,
} from './transcript-messages.ts'
import { folderNamed } from './workspaces.ts'

const nameOf = (path: string): string => basename(path, extname(path))

/** The paths of the same session's transcripts that are preferred to this one (README, rule 7). */
const preferredTo = (path: string): readonly string[] => {
  const [folder, name] = [join(path, '..'), nameOf(path)]
  const files = [
    join(folder, name, `${name}.jsonl`),
    join(folder, `${name}.jsonl`),
    join(folder, name, `${name}.txt`),
    path,
  ]
  return files.slice(0, files.indexOf(path))
}

export const readWith = (path: string, files: ReadonlySet<string>): string | undefined =>
  preferredTo(path).find((other) => files.has(other))

const externalIdOf = (path: string): string => acceptedId(`transcript-${nameOf(path)}`, 'session')

const traceOf = async (agentId: string, path: string, outline: Outline): Promise<SessionFields> => {
  const project = projectFolderOf(path)
  return traceFieldsOf(agentId, {
    title: outline.title(),
    projectPath: project === undefined ? undefined : await folderNamed(databasesOfTranscript(path), project),
    model: outline.model(),
  })
}

/** A transcript in plain text, which is read as a whole each time. */
const readText =
  (agentId: string): ReadSessionFiles =>
  ([{ path, size }], { onMalformed }) => {
    const messages = () => messagesOfText(path, size)
    const trace = (outline: Outline) => traceOf(agentId, path, outline)
    return sessionOfMessages({ externalId: externalIdOf(path), first: messages, trace, again: messages }, onMalformed)
  }

type State = { readonly outline: Outline; readonly reading: Reading }

/** Reads a transcript in lines of JSON (README). */
const parserOf = (agentId: string): LineParser<State> => ({
  understands: isTranscriptLine,
  unknownIn,
  start: () => ({ outline: newOutline(), reading: newReading() }),
  step: ({ outline, reading }, line) => {
    const message = readLine(reading, line)
    if (!message) return noMessages
    outline.note(message)
    return [message]
  },
  describe: async ({ outline }, path) => ({
    externalId: externalIdOf(path),
    trace: await traceOf(agentId, path, outline),
  }),
})

/** Whether a database holds the session as well. One that cannot be read, or does not exist, counts as empty. */
const isInDatabase = async (path: string): Promise<boolean> => {
  for (const database of databasesOfTranscript(path)) {
    const composers = await composerList.recent(database).catch(() => [])
    if (composers.some(({ id }) => id === nameOf(path))) return true
  }
  for (const store of await storesOfTranscript(path, nameOf(path)))
    if (await isKnownStore.recent(store).catch(() => false)) return true
  return false
}

/** The `sessions` of a transcript's file: one, unless a database holds it as well (README, rule 7). */
export const newTranscriptSessions = (agentId: string) => {
  const [text, lines] = [sessionPerFile(readText(agentId)), sessionPerFile(sessionOfLines(parserOf(agentId)))]
  return async function* (path: string): AsyncGenerator<StoredSession> {
    if (!(await isInDatabase(path))) yield* (path.endsWith('.txt') ? text : lines)(path)
  }
}
