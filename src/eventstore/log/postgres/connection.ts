import type pg from 'pg'
import { destroyConnection, closeConnection, newClient } from '../../postgres/connect.ts'

/** The database acknowledges commits before they are on its disk. */
export class NotDurable extends Error {
  override readonly name = 'NotDurable'
}

/** @throws NotDurable unless an acknowledged append is on the disk */
const assertDurable = async (client: pg.Client) => {
  const { rows } = await client.query<{ fsync: string; sync: string }>(
    `select current_setting('fsync') fsync, current_setting('synchronous_commit') sync`,
  )
  const { fsync, sync } = rows[0]!
  if (fsync !== 'on') throw new NotDurable(`the log's database must run with fsync = on, but has ${fsync}: change it`)
  if (sync === 'off')
    throw new NotDurable(`the log's database must run with synchronous_commit = on, but has ${sync}: change it`)
}

/**
 * The one connection for appends. `statementMs` limits statements on the server as well: otherwise a statement that was given up here
 * would still wait there for the lock of another writer. `verify` checks the log's identity before anything is appended.
 */
export const newConnection = (url: string, statementMs: number, verify: (client: pg.Client) => Promise<void>) => {
  let client: pg.Client | undefined
  let ready = false

  /** The connection; opens one when there is none. */
  const get = async () => {
    if (client && ready) return client
    const opened = newClient(url, 'log writer', statementMs)
    const lost = () => {
      if (client === opened) client = undefined
    }
    opened.on('error', lost)
    client = opened
    ready = false
    try {
      await opened.connect()
      await assertDurable(opened)
      await verify(opened)
    } catch (error) {
      lost()
      destroyConnection(opened)
      throw error
    }
    ready = client === opened
    return opened
  }

  /** Closes it at once, even if it is still being opened or the server does not answer. */
  const drop = () => {
    const lost = client
    client = undefined
    if (lost) destroyConnection(lost)
  }

  const end = async () => {
    const last = client
    client = undefined
    if (last) await closeConnection(last)
  }

  return { get, drop, end }
}
