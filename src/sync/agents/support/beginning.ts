import { type Json, parseObject } from './json.ts'

/** The JSON objects in the lines of a file's beginning; the last line, which may be cut off, counts when it is whole. */
export const objectsOf = (beginning: string): readonly Json[] =>
  beginning
    .split('\n')
    .map((line) => parseObject(line.trim()))
    .filter((json) => json !== undefined)
