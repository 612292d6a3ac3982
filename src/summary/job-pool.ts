import pg from 'pg'
import { destroyConnection } from '../postgres/connect.ts'

const CLOSE_TIMEOUT_MS = 500

/** The job runner's connections, with the driver's own type parsers, which the runner expects. */
export const newJobPool = (url: string, connections: number): { pool: pg.Pool; close(): Promise<void> } => {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'tracebook jobs',
    max: connections,
    connectionTimeoutMillis: 5_000,
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
    const timeout = setTimeout(cutAll, CLOSE_TIMEOUT_MS)
    await pool.end().catch(() => {})
    clearTimeout(timeout)
  }
  return { pool, close }
}
