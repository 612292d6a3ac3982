import { withoutBinary } from './media.ts'

/** A tool's output as text: a string as it is, any other value as JSON, both without binary content; empty for none. */
export const outputOfValue = (value: unknown): string => {
  if (value === undefined || value === null) return ''
  const clean = withoutBinary(value)
  return typeof clean === 'string' ? clean : JSON.stringify(clean)
}
