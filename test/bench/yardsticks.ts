import Fastify from 'fastify'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { int8s, jsons } from '../../src/eventstore/postgres/arrays.ts'
import { newPool } from '../../src/eventstore/postgres/connect.ts'
import { databaseUrl } from '../support/database.ts'
import { rate, requestBytes, requestRate } from './http.ts'

const bench = (url: string) => databaseUrl(url, 'bench')

const withTable = async <T>(url: string, work: (pool: pg.Pool) => Promise<T>): Promise<T> => {
  const pool = newPool({ url: bench(url), name: 'yardstick', max: 34 })
  await pool.query('drop table if exists bare; create table bare (position int8, data json)')
  try {
    return await work(pool)
  } finally {
    await pool.query('drop table bare')
    await pool.end()
  }
}

/** Rows a second into a bare table, 200 a transaction, by one unnest. */
export const bareBatches = (url: string, rows: readonly string[], ms: number): Promise<number> =>
  withTable(url, (pool) =>
    rate(2, ms, async () => {
      const values = [int8s(rows.map((_, i) => i)), jsons(rows)]
      await pool.query({ name: 'bare', text: 'insert into bare select * from unnest($1::int8[], $2::json[])', values })
      return rows.length
    }),
  )

/** Commits a second of single rows over 32 connections. */
export const bareCommits = (url: string, rows: readonly string[], ms: number): Promise<number> =>
  withTable(url, (pool) =>
    rate(32, ms, async (worker) => {
      await pool.query({
        name: 'bare',
        text: 'insert into bare values ($1, $2)',
        values: [worker, rows[worker % rows.length]],
      })
      return 1
    }),
  )

/** Requests a second of a Fastify that says hello, in this very process's place: a process of its own. */
export const hello = (url: string, workers: number, ms: number): Promise<number> => {
  const request = requestBytes('GET', '/', {})
  return requestRate(url, workers, ms, () => request)
}

/** Starts the Fastify that `hello` asks, which also gives so many bytes. */
export const serveHello = async (): Promise<string> => {
  const app = Fastify()
  app.get('/', async () => ({ hello: 'world' }))
  app.get<{ Params: { bytes: string } }>('/:bytes', async ({ params }) => 'x'.repeat(Number(params.bytes)))
  return app.listen({ host: '127.0.0.1', port: 0 })
}

/** Seconds that COPY takes for rows of events into a bare table. */
export const bareCopy = (url: string, lines: Iterable<string>): Promise<number> =>
  withTable(url, async (pool) => {
    await pool.query(
      'drop table bare; create table bare (position int8, stream text, revision int8, id uuid, type text, data json, metadata json)',
    )
    const client = await pool.connect()
    const started = performance.now()
    await pipeline(Readable.from(lines, { highWaterMark: 1 << 20 }), client.query(copyFrom('copy bare from stdin')))
    client.release()
    return (performance.now() - started) / 1_000
  })
