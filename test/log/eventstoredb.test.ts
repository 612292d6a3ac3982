import { randomUUID } from 'node:crypto'
import { startDouble } from '../support/eventstoredb/server.ts'
import { contract } from './contract.ts'

const module = new URL('./support/open-eventstoredb.ts', import.meta.url).href

contract({
  name: 'EventStoreDB',
  module,
  newPlace: async () => {
    const { url, stop } = await startDouble()
    return { place: url, drop: stop }
  },
})

// On streams of its own, which it leaves behind: a server with other data is safe.
const real = process.env.TEST_EVENTSTORE_URL
if (real)
  contract({
    name: 'EventStoreDB (TEST_EVENTSTORE_URL)',
    module,
    newPlace: async () => {
      const prefix = `streamPrefix=test-${randomUUID()}.`
      return { place: `${real}${real.includes('?') ? '&' : '?'}${prefix}`, drop: async () => {} }
    },
  })
