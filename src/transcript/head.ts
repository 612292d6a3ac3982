import type { TraceDetail } from '../contract/trace.ts'
import { lastingText } from '../base/for-people.ts'
import { rawMembers } from '../base/json/raw-values.ts'
import { timeText } from './times.ts'
import { visibleLine } from './visible.ts'

/** The head of a transcript: the facts about its trace. */
export type Head = {
  readonly title: string
  /** Each on one line, in the order of the head. */
  readonly facts: readonly { readonly name: string; readonly value: string }[]
}

/** The names of a trace's members in the head; undefined if they are not a fact of their own. */
const names = {
  agentId: 'Agent',
  modelName: 'Model',
  model: 'Model id',
  projectName: 'Project',
  projectPath: 'Folder',
  gitRemoteUrl: 'Repository',
  gitBranch: 'Branch',
  gitRef: 'Commit',
  externalId: 'Session',
  visibility: 'Visibility',
  messageCount: 'Messages',
  // In the title.
  title: undefined,
  ai_title: undefined,
  // Among the times.
  createdAt: undefined,
  startedAt: undefined,
  endedAt: undefined,
  // Useless without the service, or shown by the messages themselves.
  id: undefined,
  namespace: undefined,
  createdBy: undefined,
  updatedAt: undefined,
  parentExternalId: undefined,
  parentCallId: undefined,
  ai_summary: undefined,
  summaryMessageCount: undefined,
  messageTypeCounts: undefined,
  toolTypeCounts: undefined,
} as const satisfies { readonly [Name in keyof TraceDetail]-?: string | undefined }

/** The title of a trace: its own, otherwise the one that the service has made, otherwise its id. */
export const titleOf = (trace: ReadonlyMap<string, unknown>): string => {
  const titles = ['title', 'ai_title', 'externalId'].map((name) => trace.get(name))
  const title = titles.map((one) => (typeof one === 'string' ? visibleLine(one) : '')).find((one) => one !== '')
  return title ?? 'Session'
}

/** The members of a trace, as in the API, from its JSON text. */
export const readTrace = (json: string): ReadonlyMap<string, unknown> =>
  new Map([...rawMembers(json)].map(({ key, value }) => [key, JSON.parse(value) as unknown]))

/** The part above the messages. */
export const headOf = (trace: ReadonlyMap<string, unknown>): Head => {
  const facts = Object.entries(names).flatMap(([key, name]) => {
    const value = name === undefined ? undefined : trace.get(key)
    const text = typeof value === 'string' ? visibleLine(value) : typeof value === 'number' ? String(value) : ''
    return name === undefined || text === '' ? [] : [{ name, value: text }]
  })
  const [startedAt, endedAt, createdAt] = ['startedAt', 'endedAt', 'createdAt'].map((name) => {
    const value = trace.get(name)
    return typeof value === 'number' ? value : undefined
  })
  const began = timeText(startedAt)
  const took = began === undefined || timeText(endedAt) === undefined ? undefined : lastingText(endedAt! - startedAt!)
  const times = { Began: began, Took: took, Stored: timeText(createdAt) }
  const shown = Object.entries(times).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]))
  return { title: titleOf(trace), facts: [...facts, ...shown] }
}
