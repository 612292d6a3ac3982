import type { z } from 'zod'
import { invalid } from './http-error.ts'

/** The maximum size of a page of a list, in bytes. Only the first entry may exceed it; the next page has the other entries. */
export const PAGE_BYTES = 8 * 1024 * 1024

/** How many entries with these sizes, in bytes, fit into a page: at most `limit`, at least one. */
export const fitting = (sizes: readonly number[], limit: number): number => {
  const most = Math.min(sizes.length, limit)
  let bytes = 0
  for (let i = 0; i < most; i++) {
    bytes += sizes[i]!
    if (bytes > PAGE_BYTES && i > 0) return i
  }
  return most
}

/** How many of these texts fit into a page. */
export const fittingTexts = (texts: readonly string[], limit: number): number =>
  fitting(
    texts.map((text) => Buffer.byteLength(text)),
    limit,
  )

/**
 * SQL for the rows of a statement that fit into a page, and one more, which shows that there is a next page. `rows` needs a
 * column `size`: at most as many bytes as the row adds to the page. `order` is the order of the list.
 */
export const pageRows = (rows: string, order: string): string => `
  select w.* from (
    select r.*, sum(r.size) over (order by ${order} rows unbounded preceding) - r.size as size_before
    from (${rows}) r
  ) w where w.size_before <= ${PAGE_BYTES} order by ${order}`

/** The cursor of a page: the sort keys of its last entry. They are encoded, because clients must not depend on them. */
export const encodeCursor = (...keys: (string | number | null)[]): string =>
  Buffer.from(JSON.stringify(keys)).toString('base64url')

/** The sort keys of a cursor; undefined if the cursor is not valid. */
export const decodeCursor = <Keys extends z.ZodTuple>(text: string, keys: Keys): z.infer<Keys> | undefined => {
  try {
    return keys.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
  } catch {
    return undefined
  }
}

/** The 400 for a cursor that is not valid, or is of another list. */
export const invalidCursor = () =>
  invalid('cursor', 'is not a cursor of this list: use the nextCursor of the previous page')
