import { basename, extname, join } from 'node:path'
import type { StoredSession } from '../agent.ts'
import { acceptedId } from '../support/external-ids.ts'
import { type ReadSessionFile, sessionPerFile } from '../support/file-session.ts'
import { type Described, type LineParser, noMessages } from '../support/line-parser.ts'
import { newOutline, type Outline, type SavedOutline } from '../support/outline.ts'
import { sessionOfLines } from '../support/session-of-lines.ts'
import { traceFieldsOf } from '../support/trace-fields.ts'
import { composerList } from './listing.ts'
import { databasesOfTranscript, projectFolderOf, storesOfTranscript } from './places.ts'
import { isKnownStore } from './stores.ts'
import { isTranscriptLine, messagesOfText, newReading, readLine, type SavedReading, saveReading } from './transcript.ts'
import { folderNamed } from './workspaces.ts'

const nameOf = (path: string): string => basename(path, extname(path))

/** The transcripts of the same session that are preferred to this one (README, rule 7). */
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

export const isSuperseded = (path: string, files: ReadonlySet<string>): boolean =>
  preferredTo(path).some((other) => files.has(other))

const describe = async (agentId: string, path: string, outline: Outline): Promise<Described> => {
  const project = projectFolderOf(path)
  return {
    externalId: acceptedId(`transcript-${nameOf(path)}`, 'session'),
    trace: traceFieldsOf(agentId, {
      title: outline.title(),
      projectPath: project === undefined ? undefined : await folderNamed(databasesOfTranscript(path), project),
      model: outline.model(),
    }),
  }
}

/** A transcript in plain text, which is read whole each time. */
const readText =
  (agentId: string): ReadSessionFile =>
  async (path, { size }) => {
    const outline = newOutline()
    for await (const message of messagesOfText(path, size)) outline.note(message)
    return { ...(await describe(agentId, path, outline)), skippedLines: 0, messages: () => messagesOfText(path, size) }
  }

/** What the lines after a place need of those before it. */
type Saved = { readonly outline: SavedOutline; readonly reading: SavedReading }

type State = { readonly outline: Outline; readonly reading: ReturnType<typeof newReading> }

/** Reads a transcript in lines of JSON (README). Raise the number in `version` when `Saved` changes. */
const parserOf = (agentId: string, version: number): LineParser<State, Saved> => ({
  version: `${agentId}/${version}/1`,
  understands: isTranscriptLine,
  start: ({ saved }) => ({ outline: newOutline(saved?.outline), reading: newReading(saved?.reading) }),
  step: ({ outline, reading }, line) => {
    const message = readLine(reading, line)
    if (!message) return noMessages
    outline.note(message)
    return [message]
  },
  describe: ({ outline }, path) => describe(agentId, path, outline),
  save: ({ outline, reading }) => ({ outline: outline.save(), reading: saveReading(reading) }),
})

/** Whether a database holds the session as well. One that cannot be read, or is not there, holds none. */
const isInDatabase = async (path: string): Promise<boolean> => {
  for (const database of databasesOfTranscript(path)) {
    const composers = await composerList.recent(database).catch(() => [])
    if (composers.some(({ id }) => id === nameOf(path))) return true
  }
  for (const store of await storesOfTranscript(path, nameOf(path)))
    if (await isKnownStore.recent(store).catch(() => false)) return true
  return false
}

/** The sessions of transcripts: of each one, unless a database holds it as well (README, rule 7). */
export const newTranscriptSessions = (agentId: string, version: number) => {
  const [text, lines] = [sessionPerFile(readText(agentId)), sessionPerFile(sessionOfLines(parserOf(agentId, version)))]
  return async function* (path: string): AsyncGenerator<StoredSession> {
    if (!(await isInDatabase(path))) yield* (path.endsWith('.txt') ? text : lines)(path)
  }
}
