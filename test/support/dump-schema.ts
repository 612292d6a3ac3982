import { groups } from '../../projections/index.ts'
import { withConnection } from './database.ts'
import { until } from './until.ts'

/** Columns that depend on where an event stands in its log: a copy in another kind of log differs in them. `used` of `usage_days` has the prices as well. */
const POSITIONS = new Set(['position', 'place', 'prices', 'used'])
/** Columns that depend on where an event stands in its stream: a copy of the log may differ in them. */
const REVISIONS = new Set(['revision', 'first_revision', 'through', 'incarnation', 'added', 'block'])

/** The tables and columns in which a rebuild may differ, as the projections say. */
const NOT_COMPARED = new Set(
  groups.flatMap(({ projections }) => projections.flatMap(({ notCompared = [] }) => notCompared)),
)

const quoted = (name: string) => `"${name}"`

/**
 * The tables of a schema of read models, each with its rows as sorted texts. The checkpoint and its view are left out, because
 * events of other logs on the same server move them, and so is what projections do not have compared.
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
      if (table_name === 'checkpoint') continue
      const table = table_name.replace(/(_\d+)+$/, '') // of a segment the table that it is part of
      if (NOT_COMPARED.has(table) || NOT_COMPARED.has(`${table}.${column_name}`)) continue
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
