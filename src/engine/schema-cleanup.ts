import type pg from 'pg'
import { cut, hangUp, newClient } from '../postgres/connect.ts'
import type { Group } from './group.ts'
import { dropUnused } from './schema.ts'

const TIDY_MS = 60_000
const DROP_MS = 30_000

type Log = { info(data: object, message: string): void; error(data: object, message: string): void }

export type Tidy = {
  /** Drops what no process uses any more, unless that was done within the last minute. Returns at once. */
  now(): void
  /** Waits a minute: others may have lost their connections, too, and need time to say what they use. */
  later(): void
  close(): Promise<void>
}

/** Tidies up on a connection of its own: whatever holds up a drop must not hold up the projections. */
export const newTidy = (options: { readonly url: string; readonly group: Group; readonly logger: Log }): Tidy => {
  const { url, group, logger } = options
  let since = Number.NEGATIVE_INFINITY
  let client: pg.Client | undefined
  let running: Promise<void> | undefined
  let closed = false

  const run = async () => {
    const fresh = newClient(url, 'tidying', DROP_MS)
    fresh.on('error', () => {})
    client = fresh
    try {
      await fresh.connect()
      const dropped = await dropUnused(fresh, group)
      if (dropped.length > 0) logger.info({ dropped }, 'dropped read models that no process uses any more')
    } catch (error) {
      if (!closed) logger.error({ err: error }, 'read models that no process uses any more cannot be dropped')
    } finally {
      await hangUp(fresh)
      running = undefined
    }
  }

  const later = () => {
    since = performance.now()
  }

  const now = () => {
    if (closed || running || performance.now() - since < TIDY_MS) return
    later()
    running = run()
  }

  const close = async () => {
    closed = true
    if (running && client) cut(client)
    await running
  }

  return { now, later, close }
}
