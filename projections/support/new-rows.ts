/** Rows that a batch adds to a table, in order. Keys are worked out only once a later event of the batch asks for one. */
export type NewRows<Row> = {
  add(row: Row): void
  find(key: string): Row | undefined
  remove(unwanted: (row: Row) => boolean): void
  all(): readonly Row[]
}

export const newRows = <Row>(keyOf: (row: Row) => string): NewRows<Row> => {
  let rows: Row[] = []
  let byKey: Map<string, Row> | undefined
  return {
    add: (row) => {
      rows.push(row)
      byKey?.set(keyOf(row), row)
    },
    find: (key) => {
      byKey ??= new Map(rows.map((row) => [keyOf(row), row]))
      return byKey.get(key)
    },
    remove: (unwanted) => {
      rows = rows.filter((row) => !unwanted(row))
      byKey = undefined
    },
    all: () => rows,
  }
}
