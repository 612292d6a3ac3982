import { basename, dirname } from 'node:path'
import type { SessionMessage } from '../agent.ts'
import { acceptedId } from '../support/external-ids.ts'
import { type Json, textOf } from '../support/json.ts'
import { type Described, type LineParser, noMessages, type Start } from '../support/line-parser.ts'
import type { ObjectLine } from '../support/lines.ts'
import { mostFrequent } from '../support/most-frequent.ts'
import { titleOfPrompt } from '../support/outline.ts'
import { titleOf } from '../support/title.ts'
import { traceFieldsOf } from '../support/trace-fields.ts'
import {
  applyLine,
  type History,
  isFinal,
  isRecord,
  metadataOf,
  newHistory,
  type Note,
  type SavedHistory,
  saveHistory,
  summaryOf,
} from './history.ts'
import { messagesOf, readMessage } from './messages.ts'
import { projectPathOf } from './project.ts'

/** What the records after a place need of those before it. */
type Saved = { readonly history: SavedHistory; readonly metadata: Json }

type State = {
  readonly ahead: State | undefined
  readonly isDocument: boolean
  readonly history: History
  readonly metadata: Record<string, unknown>
}

const noteOf = (message: Json): Note => {
  if (message['type'] === 'gemini') return { model: textOf(message['model']) }
  const read = message['type'] === 'user' ? readMessage(message, '') : undefined
  return read ? { title: titleOfPrompt(read) } : {}
}

const start = ({ path, saved, ahead }: Start<State, Saved>): State => ({
  ahead,
  isDocument: path.endsWith('.json'),
  history: newHistory(saved?.history),
  metadata: { ...saved?.metadata },
})

const step = ({ ahead, history, metadata }: State, line: ObjectLine): readonly SessionMessage[] => {
  applyLine(history, line, noteOf)
  // Everything but the messages.
  for (const [key, value] of Object.entries(metadataOf(line) ?? {}))
    if (['sessionId', 'projectHash', 'summary', 'directories'].includes(key)) metadata[key] = value
  return ahead ? messagesOf(line, ahead.history) : noMessages
}

/** The session whose sub-agent the file holds: it lies in a folder of that one (README, rule 8). */
const parentOf = (path: string): string | undefined => {
  const folder = dirname(path)
  const isSubAgent = basename(dirname(folder)) === 'chats' && !basename(path).startsWith('session-')
  return isSubAgent ? acceptedId(basename(folder), 'session') : undefined
}

/** The trace's id and fields (README, rules 8 and 9). */
const describe = async (agentId: string, path: string, { history, metadata }: State): Promise<Described> => {
  const { models, title } = summaryOf(history)
  const summary = textOf(metadata['summary'])
  return {
    externalId: acceptedId(textOf(metadata['sessionId']) ?? basename(path).replace(/\.jsonl?$/, ''), 'session'),
    trace: traceFieldsOf(agentId, {
      title: summary === undefined ? title : titleOf(summary),
      projectPath: await projectPathOf(path, metadata),
      model: mostFrequent(new Map(models)),
      parentExternalId: parentOf(path),
    }),
  }
}

/** Reads the records of a session (README). Raise the number in `version` when `Saved` changes. */
export const parserOf = (agentId: string, version: number): LineParser<State, Saved> => ({
  version: `${agentId}/${version}/1`,
  understands: isRecord,
  start,
  step,
  describe: (state, path) => describe(agentId, path, state),
  save: ({ ahead, isDocument, history, metadata }) =>
    ahead && !isDocument && isFinal(history, ahead.history)
      ? { history: saveHistory(history), metadata: { ...metadata } }
      : undefined,
})
