/** The changes of a batch to a table: created rows, and the columns that are set in other rows. */
export type ChangedRows<Row extends object> = {
  readonly created: Map<string, Row>
  readonly changed: Map<string, Partial<Row>>
}

export const changedRows = <Row extends object>(): ChangedRows<Row> => ({ created: new Map(), changed: new Map() })

/** Sets columns of a row, whether this batch has created it or not; undefined leaves a column as it is. */
export const change = <Row extends object>(
  { created, changed }: ChangedRows<Row>,
  key: string,
  set: Partial<Row>,
): void => {
  const columns = Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined)) as Partial<Row>
  const row = created.get(key)
  if (row) created.set(key, { ...row, ...columns })
  else changed.set(key, { ...changed.get(key), ...columns })
}

/** A value from a client as JSON text, for a column of type json: PostgreSQL text can hold neither NUL nor lone surrogates. */
export const literal = (value: unknown): string | undefined => (value === undefined ? undefined : JSON.stringify(value))
