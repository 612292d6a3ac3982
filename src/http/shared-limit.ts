import type pg from 'pg'
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'

const WINDOW_SECONDS = 60

/** A count for each key that all nodes share; while Postgres is away each node counts for itself. */
export type SharedLimit = {
  /** Takes one of a key's points; the milliseconds to wait when none is left. */
  take(key: string): Promise<number | undefined>
  /** Adds points that were taken already; the milliseconds to wait when that was too much. */
  add(key: string, points: number): Promise<number | undefined>
}

export type SharedLimitOptions = {
  readonly pool: pg.Pool
  /** Begins every key of this limit. */
  readonly name: string
  /** How many in a minute. */
  readonly points: number
}

/** Keys that have used up their points are refused from memory, without a query, until their minute is over. */
export const newSharedLimit = ({ pool, name, points }: SharedLimitOptions): SharedLimit => {
  const common = { keyPrefix: name, points, duration: WINDOW_SECONDS }
  const limiter = new RateLimiterPostgres({
    ...common,
    storeClient: pool,
    storeType: 'pool',
    schemaName: 'tracebook',
    tableName: 'rate_limits',
    tableCreated: true,
    clearExpiredByTimeout: false,
    inMemoryBlockOnConsumed: points,
    insuranceLimiter: new RateLimiterMemory(common),
  })

  const take = async (key: string) => {
    try {
      await limiter.consume(key)
      return undefined
    } catch (refusal) {
      if (refusal instanceof RateLimiterRes) return refusal.msBeforeNext
      throw refusal
    }
  }

  const add = async (key: string, more: number) => {
    const { consumedPoints, msBeforeNext } = await limiter.penalty(key, more)
    return consumedPoints > points ? msBeforeNext : undefined
  }

  return { take, add }
}
