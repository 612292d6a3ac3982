import type pg from 'pg'
import { cut, hangUp, newClient } from '../../postgres/connect.ts'

/** The database would acknowledge what its disk does not hold. */
export class NotDurable extends Error {
  override readonly name = 'NotDurable'
}

/** The log connection must not promise what the disk does not hold. */
const assertDurable = async (client: pg.Client) => {
  const { rows } = await client.query<{ fsync: string; sync: string }>(
    `select current_setting('fsync') fsync, current_setting('synchronous_commit') sync`,
  )
  const { fsync, sync } = rows[0]!
  if (fsync !== 'on') throw new NotDurable(`the log's database must run with fsync = on, not ${fsync}`)
  if (sync === 'off') throw new NotDurable(`the log's database must run with synchronous_commit = on, not ${sync}`)
}

export type Connection = {
  /** The connection, made when there is none. */
  get(): Promise<pg.Client>
  /** Gives it up at once, also when it is still being made or the server no longer answers on it. */
  drop(): void
  end(): Promise<void>
}

/**
 * The one connection that appends go through. `statementMs` bounds a statement on the server too: given up here, it
 * would wait there for its turn and hold a backend for as long as another writer takes. `verify` looks at the log before
 * anything is appended to it.
 */
export const newConnection = (
  url: string,
  statementMs: number,
  verify: (client: pg.Client) => Promise<void>,
): Connection => {
  let client: pg.Client | undefined
  let ready = false

  const get = async () => {
    if (client && ready) return client
    const fresh = newClient(url, 'log writer', statementMs)
    const lost = () => {
      if (client === fresh) client = undefined
    }
    fresh.on('error', lost)
    client = fresh
    ready = false
    try {
      await fresh.connect()
      await assertDurable(fresh)
      await verify(fresh)
    } catch (error) {
      lost()
      cut(fresh)
      throw error
    }
    ready = client === fresh
    return fresh
  }

  const drop = () => {
    const lost = client
    client = undefined
    if (lost) cut(lost)
  }

  const end = async () => {
    const last = client
    client = undefined
    if (last) await hangUp(last)
  }

  return { get, drop, end }
}
