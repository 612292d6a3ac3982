import { randomUUID } from 'node:crypto'
import { type DoubleOptions, startDouble } from '../support/eventstoredb/server.ts'
import { contract } from './contract.ts'
import type { Adapter } from './support/world.ts'

const module = new URL('./support/open-eventstoredb.ts', import.meta.url).href

const onDouble = (name: string, options: DoubleOptions): Adapter => ({
  name,
  module,
  newPlace: async () => {
    const { url, stop } = await startDouble(options)
    return { place: url, drop: stop }
  },
})

contract(onDouble('EventStoreDB', {}))
// Conflicts name an append that cannot be read for so long.
contract(onDouble('slow EventStoreDB', { readableAfterMs: 30 }), ['appends', 'retries'])

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
