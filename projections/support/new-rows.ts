/** Rows that a batch adds to a table, in order. The index by key is built when a row is first looked up: most batches need none. */
export type NewRows<Row> = {
  add(row: Row): void
  find(key: string): Row | undefined
  remove(row: Row): void
  removeAll(unwanted: (row: Row) => boolean): void
  all(): readonly Row[]
}

export const newRows = <Row extends object>(keyOf: (row: Row) => string): NewRows<Row> => {
  let rows: Row[] = []
  let byKey: Map<string, Row> | undefined
  const removed = new Set<Row>()

  const remove = (row: Row) => {
    removed.add(row)
    byKey?.delete(keyOf(row))
  }

  const all = () => {
    if (removed.size > 0) rows = rows.filter((row) => !removed.has(row))
    removed.clear()
    return rows
  }

  return {
    add: (row) => {
      rows.push(row)
      byKey?.set(keyOf(row), row)
    },
    find: (key) => {
      byKey ??= new Map(all().map((row) => [keyOf(row), row]))
      return byKey.get(key)
    },
    remove,
    removeAll: (unwanted) => {
      for (const row of all()) if (unwanted(row)) remove(row)
    },
    all,
  }
}
