import { openPostgresLog } from '../../../../src/eventstore/log/postgres/postgres-log.ts'
import type { Open } from './world.ts'

/** The place is a connection string. */
export const open: Open = (url, options) => openPostgresLog({ url, ...options })
