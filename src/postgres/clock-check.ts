import type pg from 'pg'

/** How this node's clock stands to the database's. */
export type ClockCheck = {
  /** What is wrong, in words; undefined when nothing is, or nothing is known. Measures every few seconds at most. */
  problem(): Promise<string | undefined>
}

export type ClockCheckOptions = {
  readonly pool: Pick<pg.Pool, 'query'>
  /** This node's clock, in milliseconds. */
  readonly now: () => number
  /** How long a measurement is believed. */
  readonly keepMs?: number
}

const TOLERATED_MS = 5_000

const statement = 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now'

const describe = (ms: number, side: 'ahead of' | 'behind') =>
  ms > TOLERATED_MS ? `this node's clock is ${Math.round(ms / 1_000)} s ${side} the database's` : undefined

/** Expiry goes by the node's clock, the times of events too: one that is off by more than 5 s shows. */
export const newClockCheck = ({ pool, now, keepMs = 5_000 }: ClockCheckOptions): ClockCheck => {
  let measuredAt = Number.NEGATIVE_INFINITY
  let last: string | undefined
  let running: Promise<void> | undefined

  const measure = async () => {
    const before = now()
    const { rows } = await pool.query<{ now: number }>({ name: 'clock', text: statement })
    const [theirs, after] = [rows[0]!.now, now()]
    // The database looked at its clock at some time in between: what the way there and back takes is no difference.
    last = describe(before - theirs, 'ahead of') ?? describe(theirs - after, 'behind')
  }

  const problem = async () => {
    if (performance.now() - measuredAt < keepMs) return last
    running ??= measure()
      .catch(() => {}) // that the database is away is said elsewhere
      .finally(() => {
        measuredAt = performance.now()
        running = undefined
      })
    await running
    return last
  }

  return { problem }
}
