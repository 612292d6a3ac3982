import { randomUUID } from 'node:crypto'
import { startDouble } from '../../../support/eventstoredb/server.ts'
import type { Adapter } from './world.ts'

const double: Adapter = {
  name: 'EventStoreDB',
  module: new URL('./open-eventstoredb.ts', import.meta.url).href,
  newPlace: async () => {
    const { url, stop } = await startDouble()
    return { place: url, drop: stop }
  },
}

/** A storage with its own streams, which stay on the server. Other data on the server are not touched. */
const real = (server: string): Adapter => ({
  name: 'EventStoreDB (TEST_EVENTSTORE_URL)',
  module: double.module,
  newPlace: async () => {
    const prefix = `streamPrefix=test-${randomUUID()}.`
    return { place: `${server}${server.includes('?') ? '&' : '?'}${prefix}`, drop: async () => {} }
  },
})

const { TEST_EVENTSTORE_URL: given } = process.env

/** The kinds of logs: in the double, and in the given server. */
export const eventStoreDBs: readonly Adapter[] = given ? [double, real(given)] : [double]
