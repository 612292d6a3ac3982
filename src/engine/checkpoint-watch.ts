import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { cut, hangUp, newClient } from '../postgres/connect.ts'
import type { Horizon } from './horizon.ts'
import { noteUse, readCheckpoint } from './read-models.ts'

const BUSY_MS = 10
const IDLE_MS = 250
const ANSWER_MS = 3_000

/**
 * Tells a node whose read models are built by another process how far they have come: it looks at the checkpoint
 * as soon as somebody waits and often until nobody does, and now and then otherwise. Its connection also says that this
 * process uses the schema, so that no newer version drops it.
 */
export const watchCheckpoint = (options: {
  readonly url: string
  readonly schema: string
  readonly horizon: Horizon
  /** False while this process runs the projections itself and knows better. */
  readonly isNeeded: () => boolean
}): { close(): Promise<void> } => {
  const { url, schema, horizon, isNeeded } = options
  let closed = false
  let client: pg.Client | undefined
  let wake = () => {}

  const connected = async () => {
    if (client) return client
    const fresh = newClient(url, 'checkpoint watch', 5_000)
    fresh.on('error', () => {
      if (client === fresh) client = undefined
    })
    await fresh.connect()
    client = fresh // from here on it is cut when it does not answer
    await noteUse(fresh, schema)
    return fresh
  }

  const look = async () => {
    const patience = setTimeout(() => client && cut(client), ANSWER_MS)
    try {
      const connection = await connected()
      if (!isNeeded()) return
      const { position, ready } = await readCheckpoint(connection, schema)
      if (ready) horizon.advance(position)
    } catch {
      if (client) cut(client)
      client = undefined // the database is away, or this version's schema is not there yet
    } finally {
      clearTimeout(patience)
    }
  }

  const rest = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => (clearTimeout(timer), resolve())
    })

  const isAskedFor = () => isNeeded() && horizon.waiting()

  const run = async () => {
    while (!closed) {
      await look()
      if (isAskedFor()) await sleep(BUSY_MS)
      else await rest(IDLE_MS)
    }
    if (client) await hangUp(client)
  }

  horizon.onWait(() => wake())
  const running = run()
  return {
    close: async () => {
      closed = true
      wake()
      await running
    },
  }
}
