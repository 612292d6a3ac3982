import { contract } from '../contract.ts'
import { concurrency } from '../contract/concurrency.ts'
import { eventStoreDBs } from '../support/eventstoredb.ts'

for (const adapter of eventStoreDBs) contract(adapter, { concurrency })
