/** The maximal size of one answer of a list, in bytes; its first entry may exceed it. More entries come with `nextCursor`. */
export const PAGE_BYTES = 8 * 1024 * 1024

/** How many entries with these sizes in bytes fit into one answer: at most `limit`, at least one. */
export const fitting = (sizes: readonly number[], limit: number): number => {
  const most = Math.min(sizes.length, limit)
  let bytes = 0
  for (let i = 0; i < most; i++) {
    bytes += sizes[i]!
    if (bytes > PAGE_BYTES && i > 0) return i
  }
  return most
}

/** The same for texts. */
export const fittingTexts = (texts: readonly string[], limit: number): number =>
  fitting(
    texts.map((text) => Buffer.byteLength(text)),
    limit,
  )

/**
 * SQL for the rows of a statement that fit into one answer, and one more, which shows that there are others. `rows` must have a
 * column `weight`: at most as many bytes as a row adds to the answer. `order` is the order of the list.
 */
export const weighedRows = (rows: string, order: string): string => `
  select w.* from (
    select r.*, sum(r.weight) over (order by ${order} rows unbounded preceding) - r.weight as weight_before
    from (${rows}) r
  ) w where w.weight_before <= ${PAGE_BYTES} order by ${order}`
