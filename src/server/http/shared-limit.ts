import type pg from 'pg'
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'

const WINDOW_SECONDS = 60

/** A limit by key whose counts all nodes share in PostgreSQL; while the database is away, each node counts for itself. */
export type SharedLimit = {
  /** Counts one request. The result is the milliseconds to wait if the limit is exceeded. */
  take(key: string): Promise<number | undefined>
  /** Adds requests that were counted elsewhere. The result is the milliseconds to wait if the limit is exceeded. */
  add(key: string, points: number): Promise<number | undefined>
}

type SharedLimitOptions = {
  readonly pool: pg.Pool
  /** The prefix of the keys of this limit. */
  readonly name: string
  /** The limit, in requests per minute. */
  readonly points: number
}

/** Keys that have exceeded their limit are refused without a query until their minute is over. */
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
