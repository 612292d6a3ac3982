import { withConnection } from './database.ts'
import { until } from './until.ts'

/** Columns that depend on where an event stands in its log: a copy in another kind of log differs in them. */
const POSITIONS = new Set(['position', 'place', 'prices'])
/** Columns that depend on where an event stands in its stream: a copy of the log may differ in them. */
const REVISIONS = new Set(['revision', 'first_revision', 'through', 'incarnation', 'added', 'block'])

/** What depends on how the log was cut into batches. */
const BATCHES = { table: 'search_portions', column: 'late' }

const quoted = (name: string) => `"${name}"`

/**
 * The tables of a schema of read models, each with its rows as sorted texts. The checkpoint and its view are left out, because
 * events of other logs on the same server move them.
 * Waits until the search index has all that waits for its turn. `places: false` leaves out revisions and positions, `positions: false` only these.
 */
export const dumpSchema = (
  url: string,
  schema: string,
  { places = true, positions = places }: { places?: boolean; positions?: boolean } = {},
): Promise<Record<string, string[]>> =>
  withConnection(url, async (client) => {
    const { rows: columns } = await client.query<{ table_name: string; column_name: string }>(
      `select table_name, column_name from information_schema.columns join information_schema.tables using (table_schema, table_name)
        where table_schema = $1 and table_type = 'BASE TABLE' order by table_name, ordinal_position`,
      [schema],
    )
    // Two missing schemas would be equal.
    if (columns.length === 0) throw new Error(`there is no schema ${schema}, or it has no tables`)
    const tables = new Map<string, string[]>()
    for (const { table_name, column_name } of columns) {
      if (table_name === 'checkpoint' || table_name === BATCHES.table || column_name === BATCHES.column) continue
      if ((!places && REVISIONS.has(column_name)) || (!positions && POSITIONS.has(column_name))) continue
      tables.set(table_name, [...(tables.get(table_name) ?? []), column_name])
    }
    if (tables.has('search_backlog'))
      await until(async () => (await client.query(`select from ${schema}.search_backlog limit 1`)).rowCount === 0)
    await client.query('set bytea_output = escape') // texts that are stored as bytes become readable
    const dump: Record<string, string[]> = {}
    for (const [table, names] of tables) {
      const row = `concat_ws('|', ${names.map((name) => `coalesce(${quoted(name)}::text, '∅')`).join(', ')})`
      const { rows } = await client.query<{ line: string }>(
        `select ${row} as line from ${schema}.${quoted(table)} order by 1`,
      )
      dump[table] = rows.map(({ line }) => line)
    }
    return dump
  })
