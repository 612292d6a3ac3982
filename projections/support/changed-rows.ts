/** What a batch does to the rows of a table: new ones whole, and of others the columns that it sets. */
export type ChangedRows<Row extends object> = {
  readonly created: Map<string, Row>
  readonly changed: Map<string, Partial<Row>>
}

export const changedRows = <Row extends object>(): ChangedRows<Row> => ({ created: new Map(), changed: new Map() })

/** Notes what is set in a row, be it new in this batch or older; undefined leaves a column alone. */
export const change = <Row extends object>(
  { created, changed }: ChangedRows<Row>,
  key: string,
  set: Partial<Row>,
): void => {
  const given = Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined)) as Partial<Row>
  const row = created.get(key)
  if (row) created.set(key, { ...row, ...given })
  else changed.set(key, { ...changed.get(key), ...given })
}

/** Text that clients wrote, as a JSON string literal: Postgres text can hold neither NUL nor half a surrogate pair. */
export const literal = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : JSON.stringify(text)
