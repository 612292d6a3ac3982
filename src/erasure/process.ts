import type pg from 'pg'
import type { Horizon } from '../engine/horizon.ts'
import type { EventLog } from '../log/log.ts'
import { metadataOf } from '../log/metadata.ts'

/**
 * Erasure (readings): after `TraceDeleted` the read models hold nothing of the trace; this process takes its earlier
 * events out of the log. What is due stands in `tracebook.erasures` until it is done, so a kill at any point is made
 * good; everything here can be repeated.
 */
export type ErasureOptions = {
  readonly pool: pg.Pool
  readonly log: EventLog
  /** The read models: nothing is taken away that they have not seen. */
  readonly models: Horizon
  readonly logger: { info(data: object, message: string): void; error(data: object, message: string): void }
}

const NAME = 'erasure'
const RETRY_MS = 500

type Due = { stream: string; before_revision: bigint; position: bigint }

const isMoved = (rowCount: number | null) => rowCount === 1

export const startErasure = ({ pool, log, models, logger }: ErasureOptions): { close(): Promise<void> } => {
  const stop = new AbortController()

  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, RETRY_MS)
      stop.signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
    })

  const checkpoint = async (): Promise<bigint> => {
    await pool.query('insert into tracebook.processes values ($1, 0) on conflict do nothing', [NAME])
    return (await pool.query('select position from tracebook.processes where name = $1', [NAME])).rows[0].position
  }

  /** Notes what is due and moves on, in one statement; false when another worker has done so already. */
  const note = async (from: bigint, through: bigint, due: readonly (Due & { at: number })[]): Promise<boolean> => {
    const { rowCount } = await pool.query({
      name: 'erasure-note',
      text: `
        with moved as (
          update tracebook.processes set position = $2 where name = '${NAME}' and position = $1 returning 1
        ), noted as (
          insert into tracebook.erasures (stream, before_revision, position, requested_at)
          select d.* from unnest($3::text[], $4::int8[], $5::int8[], $6::int8[]) d where exists (select from moved)
          on conflict (stream) do update set before_revision = excluded.before_revision, position = excluded.position
        ) select from moved`,
      values: [
        from,
        through,
        due.map(({ stream }) => stream),
        due.map(({ before_revision }) => before_revision),
        due.map(({ position }) => position),
        due.map(({ at }) => at),
      ],
    })
    return isMoved(rowCount)
  }

  const erase = async () => {
    const { rows } = await pool.query<Due>(
      'select stream, before_revision, position from tracebook.erasures order by position',
    )
    for (const { stream, before_revision, position } of rows) {
      await models.passed(position, 60_000)
      await log.truncate(stream, before_revision)
      await pool.query('delete from tracebook.erasures where stream = $1 and before_revision = $2', [
        stream,
        before_revision,
      ])
      logger.info({ stream }, 'erased')
    }
  }

  const follow = async () => {
    let at = await checkpoint()
    await erase()
    for await (const { events, through } of log.follow({ after: at, signal: stop.signal })) {
      const deleted = events.filter(({ type }) => type === 'TraceDeleted')
      const newest = new Map(deleted.map((event) => [event.stream, event]))
      const due = [...newest.values()].map((event) => {
        const { stream, revision, position } = event
        return { stream, before_revision: revision, position, at: metadataOf(event).at }
      })
      if (through > at && !(await note(at, through, due))) return
      at = through
      if (due.length > 0) await erase()
    }
  }

  const run = async () => {
    while (!stop.signal.aborted) {
      await follow().catch((error: unknown) => {
        if (!stop.signal.aborted) logger.info({ err: error }, 'erasure waits for its database')
      })
      await pause()
    }
  }

  const running = run()
  return {
    close: async () => {
      stop.abort()
      await running
    },
  }
}
