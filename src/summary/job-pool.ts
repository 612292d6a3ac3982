import pg from 'pg'
import { ifLate } from '../base/waits.ts'
import { ANSWER_MS, destroyConnection } from '../postgres/connect.ts'

const CLOSE_TIMEOUT_MS = 500

type Done = Parameters<pg.Pool['connect']>[0]

/**
 * A pool whose connections may be released twice. The job runner does this if it is stopped before it knows whether it is
 * listening. The driver would throw an error that nobody catches, which would end the process.
 */
class LenientPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>
  override connect(done: Done): void
  override connect(done?: Done): Promise<pg.PoolClient> | void {
    if (!done) return super.connect()
    super.connect((error, client, release) => {
      if (!client) return done(error, client, release)
      let isReleased = false
      const releaseOnce: typeof release = (reason) => {
        if (isReleased) return
        isReleased = true
        release(reason)
      }
      done(error, client, releaseOnce)
    })
  }
}

/** The job runner's connections, with the driver's own type parsers, as the runner expects. */
export const newJobPool = (url: string, connections: number): { pool: pg.Pool; close(): Promise<void> } => {
  const pool = new LenientPool({
    connectionString: url,
    application_name: 'tracebook jobs',
    max: connections,
    connectionTimeoutMillis: ANSWER_MS,
    keepAlive: true,
  })
  const clients = new Set<pg.PoolClient>()
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    clients.add(client)
    client.on('error', () => {})
    client.on('end', () => clients.delete(client))
  })
  const close = async () => {
    const cutAll = () => clients.forEach((client) => destroyConnection(client as unknown as pg.Client))
    await ifLate(CLOSE_TIMEOUT_MS, cutAll, pool.end()).catch(() => {})
  }
  return { pool, close }
}
