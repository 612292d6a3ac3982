import { randomUUID } from 'node:crypto'
import { startDouble } from '../../support/eventstoredb/server.ts'
import type { Adapter } from './world.ts'

const double: Adapter = {
  name: 'EventStoreDB',
  module: new URL('./open-eventstoredb.ts', import.meta.url).href,
  newPlace: async () => {
    const { url, stop, faults, appends } = await startDouble()
    const hold = async () => {
      faults.stall('append')
      return { isWaiting: async () => appends.open > 0, release: async () => faults.resume() }
    }
    return { place: url, drop: stop, hold }
  },
}

/** On streams of its own, which it leaves behind: a server with other data is safe. */
const real = (server: string): Adapter => ({
  name: 'EventStoreDB (TEST_EVENTSTORE_URL)',
  module: double.module,
  newPlace: async () => {
    const prefix = `streamPrefix=test-${randomUUID()}.`
    return { place: `${server}${server.includes('?') ? '&' : '?'}${prefix}`, drop: async () => {} }
  },
})

const { TEST_EVENTSTORE_URL: given } = process.env

/** The double, and the server that is given. */
export const eventStoreDBs: readonly Adapter[] = given ? [double, real(given)] : [double]
