import pg from 'pg'
import { freshDatabase } from '../../support/database.ts'
import type { Adapter, Held } from './world.ts'

const waiting = `select from pg_locks where locktype = 'advisory' and not granted
  and database = (select oid from pg_database where datname = current_database())`

/** Holds the lock of appends, so that the appends of a database wait. */
export const holdAppends = async (url: string): Promise<Held> => {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(`select pg_advisory_lock(hashtext('tracebook log append'))`)
  return {
    isWaiting: async () => (await client.query(waiting)).rows.length > 0,
    release: () => client.end(),
  }
}

export const postgres: Adapter = {
  name: 'Postgres',
  module: new URL('./open-postgres.ts', import.meta.url).href,
  newPlace: async () => {
    const { url, drop } = await freshDatabase()
    return { place: url, drop, hold: () => holdAppends(url) }
  },
}
