import type { SessionMessage, TraceFields } from '../agent.ts'
import { titleOf } from './title.ts'

/** The most frequent value; the first one on a tie. */
export const mostFrequent = (values: Iterable<string>): string | undefined => {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].reduce<[string, number] | undefined>(
    (best, entry) => (best && best[1] >= entry[1] ? best : entry),
    undefined,
  )?.[0]
}

/** The fields of a trace without those that are undefined. The project's name is the last part of its path. */
export const traceFieldsOf = (
  agentId: string,
  fields: { readonly [Name in Exclude<keyof TraceFields, 'agentId' | 'projectName'>]?: string | undefined },
): TraceFields => {
  const projectName = fields.projectPath?.split(/[\\/]/).findLast((name) => name !== '')
  const given = Object.entries({ ...fields, projectName }).filter(([, value]) => value !== undefined)
  return { agentId, ...(Object.fromEntries(given) as Omit<TraceFields, 'agentId'>) }
}

/** What a trace takes from the messages of its session. */
type TraceNotes = {
  readonly note: (message: SessionMessage) => void
  /** A title from the first prompt. */
  readonly title: () => string | undefined
  /** The model of most answers. */
  readonly model: () => string | undefined
}

export const newTraceNotes = (): TraceNotes => {
  const models: string[] = []
  let title: string | undefined
  return {
    note: ({ role, model, parts }) => {
      if (model !== undefined) models.push(model)
      if (role !== 'user' || title !== undefined) return
      const part = parts.find(({ type }) => type === 'text')
      if (part?.type === 'text') title = titleOf(part.content.text)
    },
    title: () => title,
    model: () => mostFrequent(models),
  }
}
