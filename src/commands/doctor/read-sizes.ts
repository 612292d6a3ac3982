import type pg from 'pg'
import { groups } from '../../../projections/index.ts'
import { parseSchema, schemaOf } from '../../eventstore/engine/group.ts'
import { SqlState, hasSqlState } from '../../eventstore/postgres/sql-state.ts'
import type { Size } from './figures.ts'

type Client = Pick<pg.ClientBase, 'query'>

/** How long the sizes of files may take to be read. */
const SIZES_MS = 600

const exactBytes = 'pg_total_relation_size(c.oid)'

const indexPages = (table: string) =>
  `(select coalesce(sum(p.relpages), 0) from pg_index x join pg_class p on p.oid = x.indexrelid where x.indrelid = ${table})`

/** As of the last vacuum or analysis of a table, of its indexes, and of its long values. */
const estimatedBytes = `
  current_setting('block_size')::int8 * (
    c.relpages + coalesce((select t.relpages from pg_class t where t.oid = c.reltoastrelid), 0)
      + ${indexPages('c.oid')} + ${indexPages('c.reltoastrelid')}
  )`

const tablesStatement = (bytes: string) => `
  select n.nspname as schema, c.relname as name, coalesce(${bytes}, 0)::float8 as bytes,
    greatest(c.reltuples, pg_stat_get_live_tuples(c.oid), 0)::float8 as rows
  from pg_namespace n join pg_class c on c.relnamespace = n.oid and c.relkind = 'r'
  where n.nspname in ('log', 'tracebook', 'graphile_worker') or starts_with(n.nspname, 'rm_')`

type TableSize = { readonly schema: string; readonly name: string; readonly bytes: number; readonly rows: number }

const TREE_TABLES = ['leaves', 'subtrees', 'tree', 'audit_keys']

const partOf = ({ schema, name }: TableSize): string => {
  if (schema === 'log') return 'log'
  if (schema === 'tracebook' && TREE_TABLES.includes(name)) return 'tree'
  const group = groups.find((one) => schemaOf(one) === schema)
  if (group) return group.name
  return groups.some((one) => parseSchema(one, schema)) ? 'unused' : 'other'
}

const sizesOf = (tables: readonly TableSize[], isEstimate: boolean): Size[] => {
  const parts = Map.groupBy(tables, partOf)
  const sum = (part: string, value: (table: TableSize) => number) =>
    (parts.get(part) ?? []).reduce((all, table) => all + value(table), 0)
  return ['log', 'tree', ...groups.map(({ name }) => name), 'other', 'unused'].map((part) => ({
    part,
    bytes: sum(part, ({ bytes }) => bytes),
    rows: sum(part, ({ rows }) => rows),
    isEstimate,
  }))
}

const readTables = async (client: Client, bytes: string): Promise<TableSize[]> =>
  (await client.query<TableSize>(tablesStatement(bytes))).rows

const readExactly = async (client: Client): Promise<TableSize[]> => {
  await client.query(`begin; set local statement_timeout = ${SIZES_MS}`)
  try {
    return await readTables(client, exactBytes)
  } finally {
    await client.query('rollback')
  }
}

/** Reads the sizes of files; where that takes long, or waits for a lock, takes those of the last vacuum. */
export const readSizes = async (client: Client): Promise<Size[]> => {
  try {
    return sizesOf(await readExactly(client), false)
  } catch (error) {
    if (!hasSqlState(error, SqlState.queryCanceled, SqlState.lockNotAvailable)) throw error
    return sizesOf(await readTables(client, estimatedBytes), true)
  }
}
