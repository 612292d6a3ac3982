import { basename } from 'node:path'
import type { TraceFields } from '../agent.ts'
import { acceptedId } from '../support/external-ids.ts'
import { type Json, textOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { countsOf, mostFrequent } from '../support/most-frequent.ts'
import { titleOf } from '../support/title.ts'
import { traceFieldsOf } from '../support/trace-fields.ts'
import { type History, applyLine, metadataOf, newHistory } from './history.ts'
import { readMessage } from './messages.ts'
import { projectPathOf } from './project.ts'

/** What the trace needs of a message: the model of an answer, or the title that a prompt would give. */
type Note = { readonly model?: string | undefined; readonly title?: string | undefined }

/** The result of the first reading. */
type Outline = { readonly history: History<Note>; readonly metadata: Json }

const noteOf = (message: Json): Note => {
  if (message['type'] === 'gemini') return { model: textOf(message['model']) }
  if (message['type'] !== 'user') return {}
  const part = readMessage(message, '')?.parts.find(({ type }) => type === 'text')
  return part?.type === 'text' ? { title: titleOf(part.content.text) } : {}
}

/** Reads all `lines` into an outline. Of the metadata, everything but the messages is kept. */
export const readOutline = async (lines: AsyncIterable<ObjectLine>): Promise<Outline> => {
  const history = newHistory<Note>()
  const metadata: Record<string, unknown> = {}
  for await (const line of lines) {
    applyLine(history, line, noteOf)
    for (const [key, value] of Object.entries(metadataOf(line) ?? {}))
      if (['sessionId', 'projectHash', 'summary', 'directories'].includes(key)) metadata[key] = value
  }
  return { history, metadata }
}

/** The trace's externalId (README, rule 8). */
export const externalIdOf = (path: string, { metadata }: Outline): string =>
  acceptedId(textOf(metadata['sessionId']) ?? basename(path).replace(/\.jsonl?$/, ''), 'session')

/** The trace's fields (README, rule 9). */
export const traceFields = async (
  agentId: string,
  path: string,
  { history, metadata }: Outline,
): Promise<TraceFields> => {
  const notes = [...history.places.values()].sort((a, b) => a.order - b.order).map(({ note }) => note)
  const summary = textOf(metadata['summary'])
  return traceFieldsOf(agentId, {
    title: summary === undefined ? notes.find(({ title }) => title !== undefined)?.title : titleOf(summary),
    projectPath: await projectPathOf(path, metadata),
    model: mostFrequent(countsOf(notes.flatMap(({ model }) => model ?? []))),
  })
}
