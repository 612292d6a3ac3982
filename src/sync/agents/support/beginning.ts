import { type Json, parseObject } from './json.ts'

let last: { readonly beginning: string; readonly objects: readonly Json[] } | undefined

/**
 * The JSON objects in the lines of a file's beginning; the last line, which may be cut off, counts when it is whole. Those of the
 * last beginning are kept: one agent after the other asks for them.
 */
export const objectsOf = (beginning: string): readonly Json[] => {
  if (last?.beginning === beginning) return last.objects
  const lines = beginning.split('\n').map((line) => parseObject(line.trim()))
  last = { beginning, objects: lines.filter((json) => json !== undefined) }
  return last.objects
}
