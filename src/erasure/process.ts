import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import type { Horizon } from '../engine/horizon.ts'
import type { EventLog, RecordedEvent } from '../log/log.ts'
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
const LOOK_AGAIN_MS = 1_000
/** How many events may have to be looked at again after a restart, so that not every batch costs a commit. */
const NOTE_EVERY = 5_000n

type Due = { stream: string; before_revision: bigint; position: bigint }

/** What is to be erased after these events: of each stream all that stands before its newest deletion. */
const dueOf = (events: readonly RecordedEvent[]): (Due & { at: number })[] => {
  const deleted = events.filter(({ type }) => type === 'TraceDeleted')
  const newest = new Map(deleted.map((event) => [event.stream, event]))
  return [...newest.values()].map((event) => {
    const { stream, revision, position } = event
    return { stream, before_revision: revision, position, at: metadataOf(event).at }
  })
}

const isMoved = (rowCount: number | null) => rowCount === 1

export const startErasure = ({ pool, log, models, logger }: ErasureOptions): { close(): Promise<void> } => {
  const stop = new AbortController()

  const pause = () => setTimeout(RETRY_MS, undefined, { signal: stop.signal }).catch(() => {})

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

  /** False when it was not to be waited for any longer. */
  const shownGone = async (position: bigint): Promise<boolean> => {
    while (!stop.signal.aborted) {
      const passed = models.passed(position, LOOK_AGAIN_MS)
      if (
        await passed.then(
          () => true,
          () => false,
        )
      )
        return true
    }
    return false
  }

  const erase = async () => {
    const { rows } = await pool.query<Due>(
      'select stream, before_revision, position from tracebook.erasures order by position',
    )
    for (const { stream, before_revision, position } of rows) {
      if (!(await shownGone(position))) return
      await log.truncate(stream, before_revision)
      await pool.query('delete from tracebook.erasures where stream = $1 and before_revision = $2', [
        stream,
        before_revision,
      ])
      logger.info({ stream }, 'erased')
    }
  }

  const follow = async () => {
    let noted = await checkpoint()
    await erase()
    for await (const { events, through } of log.follow({ after: noted, signal: stop.signal })) {
      const due = dueOf(events)
      if (due.length === 0 && through - noted < NOTE_EVERY) continue
      if (!(await note(noted, through, due))) return
      noted = through
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
