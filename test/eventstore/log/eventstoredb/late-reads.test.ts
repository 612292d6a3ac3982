import { startDouble } from '../../../support/eventstoredb/server.ts'
import { contract } from '../contract.ts'
import { appends } from '../contract/appends.ts'
import { retries } from '../contract/retries.ts'

// Conflicts name an append that cannot be read for so long.
contract(
  {
    name: 'EventStoreDB whose reads come late',
    module: new URL('../support/open-patient-eventstoredb.ts', import.meta.url).href,
    newPlace: async () => {
      const { url, stop } = await startDouble({ readableAfterMs: 40 })
      return { place: url, drop: stop }
    },
  },
  { appends, retries },
)
