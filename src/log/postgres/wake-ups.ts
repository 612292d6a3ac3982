import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { hangUp, newClient } from '../../postgres/connect.ts'

const CHANNEL = 'tracebook_log'
const RETRY_MS = 200
const NOTIFY_GAP_MS = 20

export type Heard = { readonly grown: () => void; readonly truncated: () => void }

export type WakeUps = {
  /** Tells other processes that the log has grown: a hint, sent soon, outside of the append, never two at a time. */
  tell(): void
  /** Tells other processes that what they hold of the log in memory may be erased. */
  tellTruncated(): Promise<void>
  close(): Promise<void>
}

/** Listens until closed; a lost connection is made anew, and the poll of the followers covers the gap. */
const newListener = (url: string, heard: (payload: string) => void) => {
  let client: pg.Client | undefined
  let closed = false
  let retry: NodeJS.Timeout | undefined

  const listen = async (fresh: pg.Client) => {
    const again = () => {
      if (client !== fresh) return
      client = undefined
      if (!closed) retry = setTimeout(() => void listen(newClient(url, 'log listener')), RETRY_MS).unref()
    }
    fresh.on('error', again)
    fresh.on('end', again)
    fresh.on('notification', ({ payload = '' }) => heard(payload))
    client = fresh
    try {
      await fresh.connect()
      await fresh.query(`listen ${CHANNEL}`)
      heard('')
    } catch {
      again()
      await hangUp(fresh)
    }
  }

  void listen(newClient(url, 'log listener'))
  return async () => {
    closed = true
    clearTimeout(retry)
    if (client) await hangUp(client)
  }
}

/** How the processes on one log wake each other. What a process says is no news to itself. */
export const newWakeUps = (url: string, pool: pg.Pool, { grown, truncated }: Heard): WakeUps => {
  const self = randomUUID()
  let wanted = false
  let running = false

  const stopListening = newListener(url, (payload) => {
    const [from, what] = payload.split(' ')
    if (from === self) return
    if (what === 'truncated') truncated()
    grown()
  })

  const say = (what: string) => pool.query('select pg_notify($1, $2)', [CHANNEL, `${self} ${what}`]).catch(() => {})

  const run = async () => {
    running = true
    while (wanted) {
      wanted = false
      await say('grown')
      await new Promise((resolve) => setTimeout(resolve, NOTIFY_GAP_MS))
    }
    running = false
  }

  const tell = () => {
    wanted = true
    if (!running) void run()
  }

  return { tell, tellTruncated: async () => void (await say('truncated')), close: stopListening }
}
