import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { cut, hangUp, newClient } from '../postgres/connect.ts'
import { readCheckpoint } from './checkpoint.ts'
import type { Horizon } from './horizon.ts'
import { type Quarantine, readQuarantine } from './quarantine.ts'
import { noteUse } from './schema.ts'

const BUSY_MS = 10
const IDLE_MS = 250
const ANSWER_MS = 3_000

/**
 * Tells a node whose read models are built by another process how far they have come, and which streams are in
 * quarantine: it looks at the checkpoint as soon as a request waits and often until none does, and now and then otherwise.
 * Its connection also says that this process uses the schema, so that no newer version drops it.
 */
export const watchCheckpoint = (options: {
  readonly url: string
  readonly schema: string
  readonly horizon: Horizon
  readonly quarantine: Quarantine
  /** False while this process runs the projections itself and knows better. */
  readonly isNeeded: () => boolean
}): { close(): Promise<void> } => {
  const { url, schema, horizon, quarantine, isNeeded } = options
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
      if (!ready) return
      const list = await readQuarantine(connection, schema) // at least as new as the position that is shown next
      if (!isNeeded()) return
      quarantine.set(list)
      horizon.advance(position)
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
