import { groups } from '../../../projections/index.ts'
import { type Group, schemaOf } from '../../../src/eventstore/engine/group.ts'
import { onServer } from '../../support/database.ts'
import type { Service } from './service.ts'

/** The tables of the database, of all schemas, that contain a text. */
export const placesOf = async ({ databaseUrl }: Service, text: string): Promise<string[]> => {
  const { rows } = await onServer(
    databaseUrl,
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  const holds = async (table: string) => {
    const found = `select exists (select from ${table} t where strpos(t::text, $1) > 0) as there`
    return (await onServer(databaseUrl, found, [text])).rows[0]!.there as boolean
  }
  const names = rows.map(({ name }) => String(name))
  const there = await Promise.all(names.map(holds))
  return names.filter((_, i) => there[i])
}

/** How many streams are in quarantine. */
export const quarantined = async ({ databaseUrl }: Service): Promise<number> => {
  const count = (group: Group) => `(select count(*) from ${schemaOf(group)}.quarantine)`
  return (await onServer(databaseUrl, `select (${groups.map(count).join(' + ')})::int4 as n`)).rows[0]!.n as number
}

/** Whether an erasure is pending. */
export const isDue = async ({ databaseUrl }: Service) =>
  (await onServer(databaseUrl, 'select from tracebook.erasures')).rows.length > 0
