import type pg from 'pg'
import { destroyConnection, closeConnection, newClient } from '../postgres/connect.ts'
import type { MinimalLogger } from '../../base/logger.ts'
import type { Group } from './group.ts'
import { dropUnused } from './schema.ts'

const MIN_INTERVAL_MS = 60_000
const STATEMENT_MS = 30_000

/** The clean-up of one group. */
export type SchemaCleanup = {
  /** Starts to drop the group's unused schemas, unless that was done within the last minute. Returns at once. */
  readonly run: () => void
  /** Drops nothing for a minute: after an outage other processes need time to lock the schemas that they use. */
  readonly postpone: () => void
}

/** Uses a connection for all groups of a process, so that a drop that waits for a query does not delay the projections. */
export const newSchemaCleanups = (options: {
  readonly url: string
  readonly logger: Pick<MinimalLogger, 'info' | 'error'>
}) => {
  const { url, logger } = options
  const due = new Set<Group>()
  let client: pg.Client | undefined
  let running: Promise<void> | undefined
  let closed = false

  const report = (error: unknown) => {
    if (!closed) logger.error({ err: error }, 'unused read models cannot be dropped; trying again later')
  }

  const drop = async (connection: pg.Client, group: Group) => {
    due.delete(group)
    const dropped = await dropUnused(connection, group)
    if (dropped.length > 0) logger.info({ dropped }, 'dropped unused read models')
  }

  const work = async () => {
    while (due.size > 0 && !closed) {
      const connection = newClient(url, 'schema cleanup', STATEMENT_MS)
      client = connection
      try {
        await connection.connect()
        for (const group of due) await drop(connection, group).catch(report)
      } catch (error) {
        due.clear()
        report(error)
      } finally {
        await closeConnection(connection)
      }
    }
    running = undefined
  }

  const of = (group: Group): SchemaCleanup => {
    let last = Number.NEGATIVE_INFINITY
    const postpone = () => {
      last = performance.now()
    }
    const run = () => {
      if (closed || performance.now() - last < MIN_INTERVAL_MS) return
      postpone()
      due.add(group)
      running ??= work()
    }
    return { run, postpone }
  }

  const close = async () => {
    closed = true
    if (running && client) destroyConnection(client)
    await running
  }

  return { of, close }
}
