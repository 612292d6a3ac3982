import { basename } from 'node:path'
import type { TraceFields } from '../agent.ts'
import { acceptedId } from '../support/external-ids.ts'
import { type Json, textOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { count, countsOf, mostFrequent } from '../support/most-frequent.ts'
import { titleOf } from '../support/title.ts'
import { traceFieldsOf } from '../support/trace-fields.ts'
import { modelOf } from './assistant.ts'
import { isSubAgent } from './entries.ts'
import { answerId, ownMessage } from './messages.ts'
import { newToolCalls } from '../support/tool-calls.ts'

/** The result of the first reading: what the trace's id and fields are made of, and the last line of each answer. */
type Outline = {
  readonly lastLineOf: Map<string, number>
  readonly sessionIds: Map<string, number>
  readonly models: Map<string, string>
  readonly titles: Map<'custom-title' | 'ai-title', string>
  readonly summaries: { readonly leaf: unknown; readonly summary: string }[]
  projectPath?: string
  gitBranch?: string
  firstPrompt?: string
}

const noteTitle = (outline: Outline, json: Json): void => {
  const custom = json['type'] === 'custom-title' && textOf(json['customTitle'])
  const ai = json['type'] === 'ai-title' && textOf(json['aiTitle'])
  const summary = json['type'] === 'summary' && textOf(json['summary'])
  if (custom) outline.titles.set('custom-title', custom)
  if (ai) outline.titles.set('ai-title', ai)
  if (summary) outline.summaries.push({ leaf: json['leafUuid'], summary })
}

const notePrompt = (outline: Outline, json: Json): void => {
  if (outline.firstPrompt !== undefined) return
  const message = ownMessage(json, newToolCalls())
  const part = message?.role === 'user' ? message.parts.find(({ type }) => type === 'text') : undefined
  if (part?.type === 'text') outline.firstPrompt = part.content.text
}

const note = (outline: Outline, { json, number }: ObjectLine): void => {
  const { sessionId } = json
  const [cwd, branch, answer, model] = [textOf(json['cwd']), textOf(json['gitBranch']), answerId(json), modelOf(json)]
  if (typeof sessionId === 'string') count(outline.sessionIds, sessionId)
  if (cwd) outline.projectPath ??= cwd
  if (branch) outline.gitBranch = branch
  if (answer !== undefined) outline.lastLineOf.set(answer, number)
  const key = answer ?? `line ${number}`
  if (json['type'] === 'assistant' && model && !outline.models.has(key)) outline.models.set(key, model)
  noteTitle(outline, json)
  notePrompt(outline, json)
}

/** Reads all `lines` into an outline. */
export const readOutline = async (lines: AsyncIterable<ObjectLine>): Promise<Outline> => {
  const outline: Outline = {
    lastLineOf: new Map(),
    sessionIds: new Map(),
    models: new Map(),
    titles: new Map(),
    summaries: [],
  }
  for await (const line of lines) note(outline, line)
  return outline
}

/**
 * The trace's externalId: a sub-agent's file name, else the most frequent session id (README, rule 9). The id in the file name
 * is preferred where lines have it: shortly after a `/clear`, most lines of a file may belong to the previous session.
 */
export const externalIdOf = (path: string, { sessionIds }: Outline): string => {
  const name = basename(path).replace(/\.jsonl$/, '')
  const id = isSubAgent(path) || sessionIds.has(name) ? name : (mostFrequent(sessionIds) ?? name)
  return acceptedId(id, 'session')
}

/** The user's title, else the agent's, else a summary of this session (files also hold those of others), else the first prompt. */
const titleFor = ({ titles, summaries, firstPrompt }: Outline, uuids: ReadonlySet<string>): string | undefined =>
  titles.get('custom-title') ??
  titles.get('ai-title') ??
  summaries.findLast(({ leaf }) => typeof leaf === 'string' && uuids.has(leaf))?.summary ??
  (firstPrompt === undefined ? undefined : titleOf(firstPrompt))

/** The trace's fields. `uuids` are the ids of all lines of the file. */
export const traceFields = (agentId: string, outline: Outline, uuids: ReadonlySet<string>): TraceFields => {
  const { projectPath, gitBranch } = outline
  const model = mostFrequent(countsOf(outline.models.values()))
  return traceFieldsOf(agentId, { title: titleFor(outline, uuids), projectPath, model, gitBranch })
}
