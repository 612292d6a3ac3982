import type pg from 'pg'
import type { MinimalLogger } from '../../base/logger.ts'
import { pause } from '../../base/waits.ts'
import { closeConnection, destroyConnection, newUpkeepClient } from '../postgres/connect.ts'
import type { Group } from './group.ts'
import type { ReadRows, Upkeep } from './projection.ts'

/** After how long work that failed, or has to wait, is tried again. */
const WAIT_MS = 60_000

type Options = {
  readonly url: string
  readonly group: Group
  readonly schema: string
  /** The session of the runner, which asks whether something is due. */
  readonly client: pg.Client
  readonly hasRoom: (bytes: number) => boolean
  readonly logger: Pick<MinimalLogger, 'error'>
  readonly waitMs?: number
}

/** The upkeep of a group's tables, beside its batches, as long as a process leads. */
export const newUpkeep = ({ url, group, schema, client, hasRoom, logger, waitMs = WAIT_MS }: Options) => {
  const all = group.projections.flatMap(({ upkeep }) => upkeep ?? [])
  const closing = new AbortController()
  const { signal } = closing
  let running: Promise<void> | undefined
  const read: ReadRows = async <Row extends object>(name: string, text: string, values: readonly unknown[]) =>
    (await client.query<Row & pg.QueryResultRow>({ name, text, values: [...values] })).rows

  /** Returns whether all is done. */
  const tryOnce = async ({ run }: Upkeep): Promise<boolean> => {
    const connection = newUpkeepClient(url, schema)
    const end = () => destroyConnection(connection)
    signal.addEventListener('abort', end)
    try {
      await connection.connect()
      await connection.query('set client_connection_check_interval = 1000').catch(() => {}) // not every system can tell
      return await run(connection, { schema, hasRoom, signal })
    } catch (error) {
      if (!signal.aborted) logger.error({ err: error, schema }, 'the upkeep of tables has failed; trying again later')
      return false
    } finally {
      signal.removeEventListener('abort', end)
      await closeConnection(connection)
    }
  }

  const work = async (upkeep: Upkeep) => {
    while (!signal.aborted && !(await tryOnce(upkeep))) await pause(waitMs, signal)
    running = undefined
  }

  /** To be called when the runner has nothing else to do. Begins with what is due, unless some is under way. */
  const run = async (): Promise<void> => {
    for (const upkeep of all) {
      if (running || signal.aborted) return
      if (await upkeep.isDue(read)) running = work(upkeep)
    }
  }

  /** Ends what is under way. */
  const close = async () => {
    closing.abort()
    await running
  }

  return { run, close }
}
