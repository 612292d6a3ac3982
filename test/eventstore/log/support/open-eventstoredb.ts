import { openEventStoreLog } from '../../../../src/eventstore/log/eventstoredb/eventstoredb-log.ts'
import type { Open } from './world.ts'

/** The place is a connection string. */
export const open: Open = (url, options) => openEventStoreLog({ url, ...options })
