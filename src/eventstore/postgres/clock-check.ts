import type pg from 'pg'

type ClockCheckOptions = {
  readonly pool: Pick<pg.Pool, 'query'>
  /** This node's clock, in milliseconds. */
  readonly now: () => number
  /** For how many milliseconds a measurement is used again. Default 5,000. */
  readonly keepMs?: number
}

/** Synchronised clocks differ by far less than this; expiry times, which are minutes at least, are much longer. */
const TOLERATED_MS = 5_000

const statement = 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now'

const describe = (ms: number, side: 'ahead of' | 'behind') =>
  ms > TOLERATED_MS ? `this node's clock is ${Math.round(ms / 1_000)} s ${side} the database's` : undefined

/**
 * Compares this node's clock with the database's.
 * Events get their times from this node's clock, and expiry times are compared with it, so a wrong clock must be noticed.
 */
export const newClockCheck = ({ pool, now, keepMs = 5_000 }: ClockCheckOptions) => {
  let measuredAt = Number.NEGATIVE_INFINITY
  let last: string | undefined
  let running: Promise<void> | undefined

  const measure = async () => {
    const before = now()
    const { rows } = await pool.query<{ now: number }>({ name: 'clock', text: statement })
    const [theirs, after] = [rows[0]!.now, now()]
    // The database read its clock at some time between the two, so the time of the round trip does not count as a difference.
    last = describe(before - theirs, 'ahead of') ?? describe(theirs - after, 'behind')
  }

  /**
   * Returns a sentence about the difference if the clocks differ by more than 5 s; undefined if they do not, or if the database is away.
   * Measures again after `keepMs`.
   */
  const problem = async () => {
    if (performance.now() - measuredAt < keepMs) return last
    running ??= measure()
      .catch(() => {}) // the readiness check reports that the database is away
      .finally(() => {
        measuredAt = performance.now()
        running = undefined
      })
    await running
    return last
  }

  return { problem }
}
