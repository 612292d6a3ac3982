import type pg from 'pg'

/**
 * Tables that are not in a backup, with the reason. Every other table of the schemas `log` and `tracebook` is, so that a new table is
 * never forgotten.
 */
const leftOut: Readonly<Record<string, string>> = {
  'tracebook.kysely_migration': 'the header of a backup names the last migration',
  'tracebook.kysely_migration_lock': 'created by the migrations',
  'tracebook.processes': 'processes read the log again from its beginning',
  'tracebook.erasures': 'read again from the log',
  'tracebook.summaries': 'counted again from the log; its jobs are not in the backup either',
  'tracebook.summary_fold': 'belongs to the summaries',
  'tracebook.expiring_traces': 'no deletion is under way in a restored service',
  'tracebook.catalogues': 'the catalogue is read again at the next start',
  'tracebook.followed_log': 'stored at the next start',
  'tracebook.search_key': 'made by the migrations; the search index is built again with it',
  'tracebook.handshakes': 'a one-time code that was used since would be valid again',
}

export type Table = { readonly name: string; readonly columns: readonly string[] }

// Unlogged tables (relpersistence 'u') are left out: PostgreSQL empties them after a crash, so no service may rely on them.
const statement = `
  select n.nspname || '.' || c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where n.nspname in ('log', 'tracebook') and c.relkind = 'r' and c.relpersistence = 'p'
  group by n.nspname, c.relname
  order by n.nspname, c.relname`

/** The tables in a backup of this database, with their columns. */
export const tablesOf = async (client: pg.Client): Promise<readonly Table[]> => {
  const { rows } = await client.query<{ name: string; columns: string[] }>(statement)
  return rows.filter(({ name }) => !Object.hasOwn(leftOut, name))
}

/** The target of a `COPY`: the table with its columns, quoted. */
export const copyTarget = (client: pg.Client, { name, columns }: Table): string => {
  const quote = (one: string) => client.escapeIdentifier(one)
  return `${name.split('.').map(quote).join('.')} (${columns.map(quote).join(', ')})`
}
