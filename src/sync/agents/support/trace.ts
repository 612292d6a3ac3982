import type { TraceFields } from '../agent.ts'

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
