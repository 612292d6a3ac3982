import type { Client } from './checkpoint.ts'
import type { Group } from './group.ts'
import { type QuarantinedStream, readQuarantine } from './quarantine.ts'
import { streamIdOf } from './stream.ts'

/**
 * A difference between the read models in use and a replica of them that was built from the log. `key` holds the columns of the
 * primary key. `missing` and `extra` mean: in the read models in use. `columns` names those that differ.
 */
export type Difference = {
  readonly table: string
  readonly kind: 'missing' | 'extra' | 'different' | 'table missing' | 'table extra' | 'columns differ'
  readonly key?: Readonly<Record<string, unknown>>
  readonly columns?: readonly string[]
}

type ComparedSchemas = { readonly group: Group; readonly live: string; readonly replica: string }

/** Checkpoints may differ in their steps; streams in quarantine are found by `quarantinedInEither`. */
const NOT_COMPARED = new Set(['checkpoint', 'quarantine'])

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

type Table = { readonly columns: readonly string[]; readonly key: readonly string[] }

const columnsStatement = `
  select c.relname as name, a.attname as column, coalesce(a.attnum = any(i.indkey), false) as "isKey"
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_index i on i.indrelid = c.oid and i.indisprimary
  where c.relnamespace = $1::regnamespace and c.relkind = 'r' and not exists (select from pg_inherits h where h.inhrelid = c.oid)
  order by c.relname, a.attnum`

const tablesOf = async (client: Client, schema: string, except: ReadonlySet<string>): Promise<Map<string, Table>> => {
  const { rows } = await client.query<{ name: string; column: string; isKey: boolean }>(columnsStatement, [schema])
  const tables = new Map<string, { columns: string[]; key: string[] }>()
  for (const { name, column, isKey } of rows) {
    if (NOT_COMPARED.has(name) || except.has(name) || except.has(`${name}.${column}`)) continue
    const table = tables.get(name) ?? { columns: [], key: [] }
    tables.set(name, table)
    table.columns.push(column)
    if (isKey) table.key.push(column)
  }
  return tables
}

/** Streams in quarantine in either schema: their rows are those of an earlier event. */
export const quarantinedInEither = async (
  client: Client,
  { live, replica }: Omit<ComparedSchemas, 'group'>,
): Promise<QuarantinedStream[]> => {
  const found = [...(await readQuarantine(client, live)), ...(await readQuarantine(client, replica))]
  return [...new Map(found.map((one) => [one.stream, one])).values()]
}

/** The SQL condition that a joined row, of which one side may be null, belongs to no stream in quarantine. */
const isNotQuarantined = (owners: Readonly<Record<string, string>>, streams: readonly QuarantinedStream[]): string => {
  const conditions = Object.entries(owners).flatMap(([category, column]) => {
    const ids = streams.filter(({ stream }) => stream.startsWith(`${category}-`)).map((one) => streamIdOf(one))
    if (ids.length === 0) return []
    const list = ids.map((id) => `'${id.replaceAll("'", "''")}'`).join(', ')
    return [`coalesce(l.${quoted(column)}, r.${quoted(column)})::text not in (${list})`]
  })
  return ['true', ...conditions].join(' and ')
}

/**
 * Rows that differ. The server reads both sides in the order of the primary key and merges them, which takes the memory of a
 * few rows. Whole rows are compared by a hash of their text.
 */
const differencesStatement = (
  { live, replica }: ComparedSchemas,
  name: string,
  { columns, key }: Table,
  condition: string,
): string => {
  const row = `md5(row(${columns.map((column) => `t.${quoted(column)}`).join(', ')})::text)`
  const side = (schema: string) => `(select t.*, ${row} as "row hash" from ${schema}.${quoted(name)} t)`
  const named = columns.map((column) => {
    const [l, r] = [`l.${quoted(column)}::text`, `r.${quoted(column)}::text`]
    return `case when ${l} is distinct from ${r} then '${column.replaceAll("'", "''")}' end`
  })
  const keys = key.map(
    (column) => `'${column.replaceAll("'", "''")}', coalesce(l.${quoted(column)}, r.${quoted(column)})`,
  )
  return `
    select json_build_object(${keys.join(', ')}) as key,
      case when l."row hash" is null then 'missing' when r."row hash" is null then 'extra' else 'different' end as kind,
      array_remove(array[${named.join(', ')}], null) as columns
    from ${side(live)} l full join ${side(replica)} r using (${key.map(quoted).join(', ')})
    where l."row hash" is distinct from r."row hash" and ${condition}`
}

const FETCHED_ROWS = 100

type DifferenceRow = { key: string; kind: 'missing' | 'extra' | 'different'; columns: string[] }

async function* rowsThatDiffer(client: Client, statement: string): AsyncGenerator<DifferenceRow> {
  await client.query(`declare differences no scroll cursor for ${statement}`)
  for (;;) {
    const { rows } = await client.query<DifferenceRow>(`fetch ${FETCHED_ROWS} from differences`)
    yield* rows
    if (rows.length < FETCHED_ROWS) break
  }
  await client.query('close differences')
}

/** Tables and columns that only one side has. */
const differencesOfShape = (name: string, live: Table | undefined, replica: Table | undefined): Difference[] => {
  if (!live) return [{ table: name, kind: 'table missing' }]
  if (!replica) return [{ table: name, kind: 'table extra' }]
  const columns = [...new Set(live.columns).symmetricDifference(new Set(replica.columns))]
  return columns.length === 0 ? [] : [{ table: name, kind: 'columns differ', columns }]
}

/** Tables with sums over several streams. If one of these streams is in quarantine, the sums may differ without an error. */
const sumTables = ({ projections }: Group): Set<string> =>
  new Set(projections.filter(({ beforeRemoval }) => beforeRemoval).flatMap(({ rows }) => Object.keys(rows)))

type CompareOptions = ComparedSchemas & {
  /** A connection within a transaction whose snapshot shows both schemas at one position. Its settings are changed. */
  readonly client: Client
  readonly quarantined: readonly QuarantinedStream[]
  /** Called before each table. */
  readonly progress?: (table: string, number: number, of: number) => void
}

/** Compares two schemas of a group row by row, leaving out the rows of streams in quarantine. */
export async function* compareSchemas(options: CompareOptions): AsyncGenerator<Difference> {
  const { client, group, live, replica, quarantined, progress } = options
  await client.query('set local enable_mergejoin = on')
  const except = new Set(group.projections.flatMap(({ notCompared = [] }) => notCompared))
  const [ours, theirs] = [await tablesOf(client, live, except), await tablesOf(client, replica, except)]
  const owners = Object.assign({}, ...group.projections.map(({ rows }) => rows)) as Group['projections'][0]['rows']
  const sums = sumTables(group)
  const names = [...new Set([...ours.keys(), ...theirs.keys()])].sort()
  for (const [i, name] of names.entries()) {
    progress?.(name, i + 1, names.length)
    const [table, replicated] = [ours.get(name), theirs.get(name)]
    yield* differencesOfShape(name, table, replicated)
    if (!table || !replicated || (quarantined.length > 0 && sums.has(name))) continue
    if (!replicated.key.every((column) => table.columns.includes(column))) continue
    const columns = replicated.columns.filter((column) => table.columns.includes(column))
    const common = { columns, key: replicated.key }
    const statement = differencesStatement(options, name, common, isNotQuarantined(owners[name] ?? {}, quarantined))
    for await (const { key, kind, columns: differing } of rowsThatDiffer(client, statement)) {
      const named = kind === 'different' ? { columns: differing } : {}
      yield { table: name, kind, key: JSON.parse(key) as Record<string, unknown>, ...named }
    }
  }
}
