import pg from 'pg'
import { SqlState, hasSqlState } from '../../../src/eventstore/postgres/sql-state.ts'
import { all } from '../../eventstore/log/support/events.ts'
import { openBareLog } from '../../support/bare-log.ts'
import { freshDatabase } from '../../support/database.ts'
import { type App, openApp } from '../../support/open-app.ts'
import { signIn } from '../../support/world.ts'
import { until } from '../../support/until.ts'

export type Trace = {
  id: string
  ai_title?: string
  ai_summary?: string
  summaryMessageCount?: number
  updatedAt: number
}

const settings = { SUMMARY_DEBOUNCE_MS: '50', SUMMARY_THRESHOLD: '3' }

/** A database with nodes on it that can be started and stopped, and a client that writes sessions. */
export const newScene = async () => {
  const database = await freshDatabase()
  const sql = new pg.Client({ connectionString: database.url })
  await sql.connect()
  const log = openBareLog(database.url)
  const nodes = new Set<App>()
  let token: string | undefined

  const start = async (env: Record<string, string> = {}, url = database.url): Promise<App> => {
    const node = await openApp(url, { env: { ...settings, ...env } })
    nodes.add(node)
    return node
  }
  const stop = async (node: App) => {
    nodes.delete(node)
    await node.close()
  }

  const tokenAt = async (node: App) => (token ??= (await signIn(node, 'writer')).token)

  /** Adds messages `from` … `from + n - 1` to a trace, which is made when it is not there. */
  const write = async (node: App, trace: string, from: number, n: number) => {
    const by = { token: await tokenAt(node) }
    await node.call('PUT', `/v1/traces/${trace}`, { ...by, body: {} })
    const messages = Array.from({ length: n }, (_, i) => ({
      externalId: `m${from + i}`,
      role: (from + i) % 2 ? 'assistant' : 'user',
      order: from + i,
      parts: [{ type: 'text', content: { text: `Message ${from + i} \0 \ud83d` } }],
    }))
    return node.call('POST', `/v1/traces/${trace}/messages/batch`, { ...by, body: { messages } })
  }
  const remove = async (node: App, trace: string) =>
    node.call('DELETE', `/v1/traces/${trace}`, { token: await tokenAt(node) })
  const read = async (node: App, trace: string) =>
    ((await node.call('GET', `/v1/traces/${trace}`, { token: await tokenAt(node) })).data as { trace: Trace }).trace

  /** The trace once it has a summary of that many messages. */
  const summarised = (node: App, trace: string, count: number) =>
    until(async () => {
      const found = await read(node, trace)
      return found.summaryMessageCount === count ? found : undefined
    })

  /** How many messages each summary was about, as the log has them. */
  const summaries = async (id: string): Promise<number[]> => {
    const events = await all(log.read(`trace-${id}`))
    const written = events.filter(({ type }) => type === 'TraceSummarised')
    return written.map(({ data }) => (JSON.parse(data) as { messageCount: number }).messageCount)
  }
  /** Undefined while the first worker is still making the table. */
  const count = (what: string): Promise<number | undefined> =>
    sql.query<{ n: string }>(`select count(*) as n from ${what}`).then(
      ({ rows }) => Number(rows[0]!.n),
      (error: unknown) => {
        if (!hasSqlState(error, SqlState.undefinedTable)) throw error
        return undefined
      },
    )

  const close = async () => {
    for (const node of nodes) await node.close()
    await log.close()
    await sql.end()
    await database.drop()
  }
  return { url: database.url, sql, start, stop, write, remove, read, summarised, summaries, count, close }
}
