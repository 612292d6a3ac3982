import { openEventStoreLog } from '../../../../src/eventstore/log/eventstoredb/eventstoredb-log.ts'
import type { Open } from './world.ts'

/** The place is a connection string. For a server that takes long for each append. */
export const open: Open = (url, options) => openEventStoreLog({ url, deadlineMs: 60_000, ...options })
