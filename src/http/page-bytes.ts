/** What one answer of a list holds besides its first entry, in bytes; the others come with `nextCursor`. */
export const PAGE_BYTES = 8 * 1024 * 1024

/** How many entries of these sizes in bytes, at most `limit`, one answer holds: at least one. */
export const fitting = (sizes: readonly number[], limit: number): number => {
  const most = Math.min(sizes.length, limit)
  let bytes = 0
  for (let i = 0; i < most; i++) {
    bytes += sizes[i]!
    if (bytes > PAGE_BYTES && i > 0) return i
  }
  return most
}

/** The same, of texts. */
export const fittingTexts = (texts: readonly string[], limit: number): number =>
  fitting(
    texts.map((text) => Buffer.byteLength(text)),
    limit,
  )

/**
 * The rows of a statement that one answer may hold, and one more that shows that there are others. They have a column
 * `weight`: how many bytes a row adds to the answer, or fewer. `order` is a list's order, over the columns of the rows.
 */
export const weighedRows = (rows: string, order: string): string => `
  select w.* from (
    select r.*, sum(r.weight) over (order by ${order} rows unbounded preceding) - r.weight as weight_before
    from (${rows}) r
  ) w where w.weight_before <= ${PAGE_BYTES} order by ${order}`
