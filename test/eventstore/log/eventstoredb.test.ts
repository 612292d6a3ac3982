import { contract } from './contract.ts'
import { eventStoreDBs } from './support/eventstoredb.ts'

for (const adapter of eventStoreDBs) contract(adapter)
