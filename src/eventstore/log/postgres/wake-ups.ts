import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { SERVICE, actAs } from '../../../base/current-client.ts'
import { closeConnection, newClient } from '../../postgres/connect.ts'

const CHANNEL = 'tracebook_log'
const RETRY_MS = 200
const NOTIFY_GAP_MS = 20

/** Called when another process has appended, has truncated a stream, or may have begun another epoch of the log. */
type WakeUpHandlers = {
  readonly grown: () => void
  readonly truncated: () => void
  readonly renewed: () => void
}

type WakeUps = {
  /** Notifies other processes of new events: soon, outside of the append's transaction, and one notification at a time. */
  notify(): void
  /** Notifies other processes that events which they have in memory may have been erased. */
  notifyTruncated(): Promise<void>
  /** Notifies other processes over this connection that the log has another epoch. */
  notifyRenewed(client: Pick<pg.Client, 'query'>): Promise<void>
  close(): Promise<void>
}

/** Listens until closed. Reconnects after a lost connection; meanwhile the followers' polls find new events. */
const newListener = (url: string, onNotification: (payload: string) => void) => {
  let client: pg.Client | undefined
  let closed = false
  let retry: NodeJS.Timeout | undefined

  const listen = async (opened: pg.Client) => {
    const reconnect = () => {
      if (client !== opened) return
      client = undefined
      if (!closed) retry = setTimeout(() => void listen(newClient(url, 'log listener')), RETRY_MS).unref()
    }
    opened.on('error', reconnect)
    opened.on('end', reconnect)
    opened.on('notification', ({ payload = '' }) => onNotification(payload))
    client = opened
    try {
      await opened.connect()
      await opened.query(`listen ${CHANNEL}`)
      onNotification('') // something may have happened while there was no connection
    } catch {
      reconnect()
      await closeConnection(opened)
    }
  }

  void listen(newClient(url, 'log listener'))
  return {
    close: async () => {
      closed = true
      clearTimeout(retry)
      if (client) await closeConnection(client)
    },
  }
}

/** Lets the processes on one log wake each other's followers. A process ignores its own notifications. */
export const newWakeUps = (url: string, pool: pg.Pool, { grown, truncated, renewed }: WakeUpHandlers): WakeUps => {
  const self = randomUUID()
  let wanted = false
  let running = false

  const listener = newListener(url, (payload) => {
    const [sender, what] = payload.split(' ')
    if (sender === self) return
    if (what === 'truncated') truncated()
    if (what === 'renewed' || what === undefined) renewed()
    grown()
  })

  const send = async (what: string, over: Pick<pg.Client, 'query'> = pool) => {
    await over.query('select pg_notify($1, $2)', [CHANNEL, `${self} ${what}`]).catch(() => {})
  }

  const run = async () => {
    running = true
    while (wanted) {
      wanted = false
      await send('grown')
      await new Promise((resolve) => setTimeout(resolve, NOTIFY_GAP_MS))
    }
    running = false
  }

  const notify = () => {
    wanted = true
    if (!running) void actAs(SERVICE, run) // it goes on for the appends of all
  }

  return {
    notify,
    notifyTruncated: () => send('truncated'),
    notifyRenewed: (client) => send('renewed', client),
    ...listener,
  }
}
