import { freshDatabase } from '../support/database.ts'
import { contract } from './contract.ts'

contract({
  name: 'Postgres',
  module: new URL('./support/open-postgres.ts', import.meta.url).href,
  newPlace: async () => {
    const { url, drop } = await freshDatabase()
    return { place: url, drop }
  },
})
