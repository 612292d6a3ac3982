import { freshDatabase } from '../../../support/database.ts'
import type { Adapter } from './world.ts'

export const postgres: Adapter = {
  name: 'Postgres',
  module: new URL('./open-postgres.ts', import.meta.url).href,
  newPlace: async () => {
    const { url, drop } = await freshDatabase()
    return { place: url, drop }
  },
}
