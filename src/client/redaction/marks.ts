import type { FindSecrets } from './find.ts'

/** What replaces a secret in everything that is sent. */
export const markOf = (rule: string): string => `[redacted:${rule}]`

/** The first mark in a text. */
export const MARK = /\[redacted:[\w-]+\]/

/** All marks in a text. */
export const MARKS = /\[redacted:[\w-]+\]/g

/** Finds nothing in the marks that replace secrets already. */
export const butMarks =
  (find: FindSecrets): FindSecrets =>
  (text, about) => {
    const found = find(text, about)
    if (found.length === 0) return found
    const marks = [...text.matchAll(MARKS)].map((mark) => [mark.index, mark.index + mark[0].length] as const)
    return found.filter(({ start, end }) => marks.every(([from, to]) => end <= from || start >= to))
  }
