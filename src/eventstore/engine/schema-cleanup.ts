import type pg from 'pg'
import { destroyConnection, closeConnection, newClient } from '../postgres/connect.ts'
import type { MinimalLogger } from '../../base/logger.ts'
import type { Group } from './group.ts'
import { dropUnused } from './schema.ts'

const MIN_INTERVAL_MS = 60_000
const STATEMENT_MS = 30_000

/** Uses a connection of its own, so that a drop that waits for a query does not delay the projections. */
export const newSchemaCleanup = (options: {
  readonly url: string
  readonly group: Group
  readonly logger: Pick<MinimalLogger, 'info' | 'error'>
}) => {
  const { url, group, logger } = options
  let last = Number.NEGATIVE_INFINITY
  let client: pg.Client | undefined
  let running: Promise<void> | undefined
  let closed = false

  const drop = async () => {
    const connection = newClient(url, 'schema cleanup', STATEMENT_MS)
    client = connection
    try {
      await connection.connect()
      const dropped = await dropUnused(connection, group)
      if (dropped.length > 0) logger.info({ dropped }, 'dropped unused read models')
    } catch (error) {
      if (!closed) logger.error({ err: error }, 'unused read models cannot be dropped; trying again later')
    } finally {
      await closeConnection(connection)
      running = undefined
    }
  }

  /** Drops nothing for a minute: after an outage other processes need time to lock the schemas that they use. */
  const postpone = () => {
    last = performance.now()
  }

  /** Starts to drop the group's unused schemas, unless that was done within the last minute. Returns at once. */
  const run = () => {
    if (closed || running || performance.now() - last < MIN_INTERVAL_MS) return
    postpone()
    running = drop()
  }

  const close = async () => {
    closed = true
    if (running && client) destroyConnection(client)
    await running
  }

  return { run, postpone, close }
}

export type SchemaCleanup = ReturnType<typeof newSchemaCleanup>
