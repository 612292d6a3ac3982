import { basename, extname, join } from 'node:path'
import type { SessionMessage, StoredSession } from '../agent.ts'
import { acceptedId } from '../support/external-ids.ts'
import { type ReadSessionFile, sessionPerFile } from '../support/file-session.ts'
import { newOutline } from '../support/outline.ts'
import { countSkipped } from '../support/skipped-lines.ts'
import { objectLines } from '../support/lines.ts'
import { traceFieldsOf } from '../support/trace-fields.ts'
import { composerList } from './listing.ts'
import { databasesOfTranscript, projectFolderOf } from './places.ts'
import { messagesOfLines, messagesOfText } from './transcript.ts'
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

const messagesOf = (path: string, size: number, onMalformed: (line: number) => void): AsyncIterable<SessionMessage> =>
  path.endsWith('.txt') ? messagesOfText(path, size) : messagesOfLines(objectLines(path, size, onMalformed))

const readTranscript =
  (agentId: string): ReadSessionFile =>
  async (path, { size, onMalformed }) => {
    const skipped = countSkipped(onMalformed)
    const outline = newOutline()
    for await (const message of messagesOf(path, size, skipped.onMalformed)) outline.note(message)
    const project = projectFolderOf(path)
    return {
      externalId: acceptedId(`transcript-${nameOf(path)}`, 'session'),
      trace: traceFieldsOf(agentId, {
        title: outline.title(),
        projectPath: project === undefined ? undefined : await folderNamed(databasesOfTranscript(path), project),
        model: outline.model(),
      }),
      skippedLines: skipped.lines,
      messages: () => messagesOf(path, size, () => {}),
    }
  }

/** Whether the editor's database holds the session as well. One that cannot be read, or is not there, holds none. */
const isInDatabase = async (path: string): Promise<boolean> => {
  for (const database of databasesOfTranscript(path)) {
    const composers = await composerList.recent(database).catch(() => [])
    if (composers.some(({ id }) => id === nameOf(path))) return true
  }
  return false
}

/** The session of a transcript, unless the editor's database holds it as well (README, rule 7). */
export async function* transcriptSessions(agentId: string, path: string): AsyncGenerator<StoredSession> {
  if (!(await isInDatabase(path))) yield* sessionPerFile(readTranscript(agentId))(path)
}
