import { escapeControls } from '../../cli/escape.ts'
import { shortTime } from '../../cli/short-time.ts'
import type { PastTrace } from '../../sync/api/history.ts'

const TIMES = new Set(['createdAt', 'updatedAt', 'startedAt', 'endedAt'])

const textOf = (name: string, value: unknown): string => {
  if (TIMES.has(name)) return shortTime(value as number)
  if (name === 'namespace') return (value as PastTrace['trace']['namespace']).slug
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A trace as lines of a name and a value, in two columns; a value of several lines stays in its column. */
export const traceLines = ({ trace, revision }: PastTrace): string[] => {
  const fields = Object.entries({ revision, ...trace })
  const width = Math.max(...fields.map(([name]) => name.length)) + 2
  return fields.flatMap(([name, value]) =>
    textOf(name, value)
      .split(/\r?\n/)
      .map((line, i) => `${(i === 0 ? escapeControls(name) : '').padEnd(width)}${escapeControls(line)}`.trimEnd()),
  )
}
