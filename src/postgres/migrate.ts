import { readdirSync } from 'node:fs'
import { type Migration, Migrator } from 'kysely'
import { kyselyOver, newPool } from './connect.ts'

/** A migration takes what it takes, and so does waiting for the process that runs it. */
const NO_LIMIT = 0

const folder = new URL('../../migrations/', import.meta.url)

const getMigrations = async (): Promise<Record<string, Migration>> => {
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts'))
  const loaded = files.map(async (file) => [file.slice(0, -3), await import(new URL(file, folder).href)] as const)
  return Object.fromEntries(await Promise.all(loaded))
}

/** Brings the log and the operational tables to the version of this code. Safe when several processes start at once. */
export const migrate = async (url: string): Promise<void> => {
  const db = kyselyOver(newPool(url, 'migrations', 2, NO_LIMIT))
  try {
    const migrator = new Migrator({ db, provider: { getMigrations }, migrationTableSchema: 'tracebook' })
    const { error } = await migrator.migrateToLatest()
    if (error) throw error
  } finally {
    await db.destroy()
  }
}
