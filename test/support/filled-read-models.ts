import { mainGroup } from '../../projections/index.ts'
import { ensureSchema, finishSchema } from '../../src/eventstore/engine/schema.ts'
import { newClient, newPool } from '../../src/eventstore/postgres/connect.ts'
import { freshDatabase } from './database.ts'

/** A node of a plan that was run, as PostgreSQL describes it. */
export type Plan = {
  readonly 'Node Type': string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Join Filter'?: number
  readonly 'Heap Fetches'?: number
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly Plans?: readonly Plan[]
}

export const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

/** Pages that a plan touched, in memory or on disk. */
export const pagesOf = (plan: Plan): number => plan['Shared Hit Blocks'] + plan['Shared Read Blocks']

/** The largest number of rows that a node of a plan has read. */
export const mostRows = (plan: Plan): number =>
  Math.max(
    ...nodesOf(plan).map((node) => {
      const { 'Rows Removed by Filter': filtered = 0, 'Rows Removed by Join Filter': unmatched = 0 } = node
      return (node['Actual Rows'] + filtered + unmatched) * node['Actual Loops']
    }),
  )

const MODES = ['force_generic_plan', 'force_custom_plan'] as const

/**
 * Read models that a test fills by SQL, without a service, and a connection with the settings of the service's reads: to check
 * the plans of statements on large tables. A statement that is prepared while the tables are empty keeps its plan.
 */
export const openFilled = async () => {
  const database = await freshDatabase()
  const client = newClient(database.url, 'test')
  await client.connect()
  await ensureSchema(client, mainGroup, 'rm_filled')
  await finishSchema(client, mainGroup, 'rm_filled')
  // Otherwise plans would depend on when the server analyses a table that is half filled.
  await client.query(`do $$ declare name text; begin
    for name in select tablename from pg_tables where schemaname = 'rm_filled' loop
      execute format('alter table rm_filled.%I set (autovacuum_enabled = off)', name);
    end loop;
  end $$`)
  await client.end()
  const pool = newPool({ url: database.url, name: 'test', max: 1, statementTimeoutMs: 0, schema: 'rm_filled' })
  const connection = await pool.connect()
  await connection.query('set default_transaction_read_only = off')

  const rows = async <T>(text: string, values: readonly unknown[] = []): Promise<T[]> =>
    (await connection.query(text, [...values])).rows as T[]

  const [{ version }] = (await rows("select current_setting('server_version_num')::int4 as version")) as [
    { version: number },
  ]
  /**
   * From 17 on PostgreSQL always uses that an index gives the beginning of an order; before, it sorts all rows of a namespace if it expects
   * only one.
   */
  const sortsInParts = version >= 170_000

  const literal = (value: unknown) => (value === null ? 'null' : connection.escapeLiteral(String(value)))
  let prepared = 0

  /** Prepares a statement. The result runs it with the plan for any values and with one for the given values, and returns both plans. */
  const prepare = async (text: string) => {
    const name = `statement_${++prepared}`
    await rows(`prepare ${name} as ${text}`)
    return async (values: readonly unknown[]): Promise<Plan[]> => {
      const plans: Plan[] = []
      for (const mode of MODES) {
        await rows(`set plan_cache_mode = ${mode}`)
        const given = values.length === 0 ? '' : `(${values.map(literal).join(', ')})`
        const [row] = await rows<{ 'QUERY PLAN': string }>(
          `explain (analyze, buffers, format json) execute ${name} ${given}`,
        )
        plans.push((JSON.parse(row!['QUERY PLAN']) as [{ Plan: Plan }])[0].Plan)
      }
      return plans
    }
  }

  /** Inserts traces. `from` is a query for id, namespace_id, name, created_at and visibility; each name is also the key. */
  const addTraces = (from: string) =>
    rows(`
      insert into traces (id, namespace_id, external_id, key, created_by, created_at, visibility, agent_id, bytes,
        updated_at, incarnation, revision, at)
      select id, namespace_id, name, md5(name)::uuid, id, created_at, visibility, '"a"', 0, 0, 0, 0, 0 from (${from}) t`)

  const close = async () => {
    connection.release()
    await pool.end()
    await database.drop()
  }
  return { rows, prepare, addTraces, sortsInParts, close }
}

export type Filled = Awaited<ReturnType<typeof openFilled>>
