import type pg from 'pg'
import { cut, hangUp, newClient } from '../postgres/connect.ts'
import type { Group } from './group.ts'
import { dropUnused } from './schema.ts'

const MIN_INTERVAL_MS = 60_000
const STATEMENT_MS = 30_000

type Log = { info(data: object, message: string): void; error(data: object, message: string): void }

export type SchemaCleanup = {
  /** Drops what no process uses any more, unless that was done within the last minute. Returns at once. */
  run(): void
  /** Waits a minute: others may have lost their connections, too, and need time to say what they use. */
  postpone(): void
  close(): Promise<void>
}

/** Tidies up on a connection of its own: whatever holds up a drop must not hold up the projections. */
export const newSchemaCleanup = (options: {
  readonly url: string
  readonly group: Group
  readonly logger: Log
}): SchemaCleanup => {
  const { url, group, logger } = options
  let last = Number.NEGATIVE_INFINITY
  let client: pg.Client | undefined
  let running: Promise<void> | undefined
  let closed = false

  const drop = async () => {
    const connection = newClient(url, 'tidying', STATEMENT_MS)
    connection.on('error', () => {})
    client = connection
    try {
      await connection.connect()
      const dropped = await dropUnused(connection, group)
      if (dropped.length > 0) logger.info({ dropped }, 'dropped read models that no process uses any more')
    } catch (error) {
      if (!closed) logger.error({ err: error }, 'read models that no process uses any more cannot be dropped')
    } finally {
      await hangUp(connection)
      running = undefined
    }
  }

  const postpone = () => {
    last = performance.now()
  }

  const run = () => {
    if (closed || running || performance.now() - last < MIN_INTERVAL_MS) return
    postpone()
    running = drop()
  }

  const close = async () => {
    closed = true
    if (running && client) cut(client)
    await running
  }

  return { run, postpone, close }
}
