import type pg from 'pg'
import { cut, hangUp, newClient } from './connect.ts'

const PATIENCE_MS = 3_000
const LOOK_MS = 2_000

/** The server has had nothing to do for this connection for a second, and waits for us as we wait for it. */
const waits = `
  select state <> 'active' and clock_timestamp() - state_change > interval '1 second' as waits
  from pg_stat_activity where pid = $1`

const end = 'select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and application_name = $2'

/** The server's process of a connection, and the name that the connection gave itself. */
export type Session = { readonly pid: number; readonly name: string }

export const sessionOf = (client: pg.Client): Session => {
  const { processID, connectionParameters } = client as unknown as {
    processID: number
    connectionParameters: { application_name: string }
  }
  return { pid: processID, name: connectionParameters.application_name }
}

/** Ends a session that we have lost, with its locks; the server may never learn otherwise that we have gone. */
export const endSession = (client: pg.Client, { pid, name }: Session): Promise<unknown> =>
  client.query(end, [pid, name])

/** Whether the server still works on what it was asked; a session that has nothing to do any more is ended. */
const isWorking = async (url: string, session: Session): Promise<boolean> => {
  const client = newClient(url, 'lost answers', LOOK_MS)
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ waits: boolean }>(waits, [session.pid])
    const isLost = rows[0]?.waits ?? true
    if (isLost) await endSession(client, session)
    return !isLost
  } catch {
    return false
  } finally {
    await hangUp(client)
  }
}

/**
 * Waits for work that a connection does and that may take its time. A network can forget a connection without a word:
 * where the server turns out not to be at work, or cannot be asked, the connection is cut and the work fails.
 */
export const untilAnswered = async <T>(
  url: string,
  client: pg.Client,
  session: Session,
  work: Promise<T>,
): Promise<T> => {
  let isLooking = false
  const look = async () => {
    if (isLooking) return
    isLooking = true
    if (!(await isWorking(url, session))) cut(client)
    isLooking = false
  }
  const timer = setInterval(() => void look(), PATIENCE_MS)
  try {
    return await work
  } finally {
    clearInterval(timer)
  }
}
