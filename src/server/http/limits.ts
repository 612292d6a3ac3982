import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { newPool } from '../../eventstore/postgres/connect.ts'
import { addressKey } from './address.ts'
import { rateLimited } from './http-error.ts'
import { type NodeLimit, newNodeLimit } from './node-limit.ts'
import { type SharedLimit, newSharedLimit } from './shared-limit.ts'
import type { HttpConfig } from './settings.ts'

/** Limits that are counted by address for each route that has one. */
export type AddressLimit = 'sign-in' | 'device-session' | 'invite-look-up' | 'search' | 'typed-search'

/**
 * The header of searches that the script of a page sends: while its reader types, and to keep a filtered list up to date. Of the limit of searches of an
 * address they take no more than a half, so that the other half is there for searches that were sent by a person.
 */
const TYPED = 'x-typed'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Limits how often one address may call this route. */
    limit?: AddressLimit
    /** The same for requests without a session, or for those of them for which it gives one; others count as usual. */
    anonymousLimit?: AddressLimit | ((request: FastifyRequest) => AddressLimit | undefined)
    /** Counts the route as a read, whatever its method. */
    reads?: true
  }
}

export type Limits = {
  readonly perAddress: Readonly<Record<AddressLimit, Pick<SharedLimit, 'take'>>>
  readonly writes: NodeLimit
  readonly reads: NodeLimit
  /** Reads without a session, by address. */
  readonly anonymousReads: NodeLimit
  /** Requests without the valid token that they need, or with an invalid one, by address. */
  readonly unauthorized: NodeLimit
  close(): Promise<void>
}

type LimitsOptions = {
  readonly config: HttpConfig
  readonly databaseUrl: string
  readonly connections: number
  readonly logger: Logger
}

const SHARE_MS = 500
const CLEAR_MS = 5 * 60_000
const QUERY_MS = 1_000

const clearStatement = 'delete from tracebook.rate_limits where expire < $1'

/** The limits. All nodes share their counts, over connections of their own; undefined if `RATE_LIMITS` is off. */
export const openLimits = ({ config, databaseUrl, connections, logger }: LimitsOptions): Limits | undefined => {
  if (config.RATE_LIMITS === 'off') return undefined
  const pool = newPool({ url: databaseUrl, name: 'limits', max: connections, statementTimeoutMs: QUERY_MS })
  const elapsed = () => performance.now()
  const shared = (name: string, points: number) => newSharedLimit({ pool, name, points })
  const countedHere = (name: string, points: number) => newNodeLimit({ shared: shared(name, points), points, elapsed })
  const [writes, reads] = [countedHere('write', config.RATE_LIMIT_WRITES), countedHere('read', config.RATE_LIMIT_READS)]
  const anonymousReads = countedHere('anonymous-read', config.RATE_LIMIT_ANONYMOUS_READS)
  const unauthorized = countedHere('unauthorized', config.RATE_LIMIT_UNAUTHORIZED)
  const all = [writes, reads, anonymousReads, unauthorized]

  const quietly = (work: Promise<unknown>) => work.catch((err: unknown) => logger.debug({ err }, 'limits not shared'))
  const sharing = setInterval(() => void quietly(Promise.all(all.map((limit) => limit.share()))), SHARE_MS)
  const clearing = setInterval(() => void quietly(pool.query(clearStatement, [Date.now()])), CLEAR_MS)
  for (const timer of [sharing, clearing]) timer.unref()

  const close = async () => {
    for (const timer of [sharing, clearing]) clearInterval(timer)
    await pool.end()
  }
  const perAddress = {
    'sign-in': shared('sign-in', config.RATE_LIMIT_SIGN_INS),
    'device-session': shared('device-session', config.RATE_LIMIT_DEVICE_SESSIONS),
    'invite-look-up': shared('invite-look-up', config.RATE_LIMIT_INVITE_LOOKUPS),
    search: shared('search', config.RATE_LIMIT_SEARCHES),
    'typed-search': shared('typed-search', Math.floor(config.RATE_LIMIT_SEARCHES / 2)),
  }
  return { perAddress, writes, reads, anonymousReads, unauthorized, close }
}

type RouteOptions = FastifyRequest['routeOptions']

const isRead = (method: string, { config }: RouteOptions) =>
  method === 'GET' || method === 'HEAD' || config.reads === true

/** Probes are never limited, even if their address has exceeded its limit. */
const PROBES = new Set(['/health', '/health/ready', '/metrics'])

/** Counts a request whose route has no limit of its own. The result is the milliseconds to wait if the limit is exceeded. */
const takeOne = (
  { writes, reads, anonymousReads }: Limits,
  { caller, method, ip }: FastifyRequest,
  routeOptions: RouteOptions,
): number | undefined => {
  const isReading = isRead(method, routeOptions)
  if (caller) return (isReading ? reads : writes).take(caller.sessionId)
  return isReading && !PROBES.has(routeOptions.url ?? '') ? anonymousReads.take(addressKey(ip)) : undefined
}

/**
 * Refuses requests beyond a limit with 429 and `Retry-After`. Routes with `limit` are counted by address, all others by
 * session, and reads without a session by address. Comes after authentication.
 */
export const installLimits = (app: FastifyInstance, limits: Limits | undefined): void => {
  if (!limits) return
  const takeFor = async ({ headers, ip }: FastifyRequest, limit: AddressLimit): Promise<number | undefined> => {
    const key = addressKey(ip)
    const isTyped = limit === 'search' && headers[TYPED] !== undefined
    const wait = isTyped ? await limits.perAddress['typed-search'].take(key) : undefined
    return wait ?? limits.perAddress[limit].take(key)
  }
  app.addHook('onRequest', (request, _reply, done) => {
    const { routeOptions } = request
    const { limit: ofAll, anonymousLimit } = routeOptions.config
    const ofAnonymous = typeof anonymousLimit === 'function' ? anonymousLimit(request) : anonymousLimit
    const limit = ofAll ?? (request.caller ? undefined : ofAnonymous)
    if (limit !== undefined) {
      takeFor(request, limit).then((wait) => done(wait === undefined ? undefined : rateLimited(wait)), done)
      return
    }
    const wait = takeOne(limits, request, routeOptions)
    done(wait === undefined ? undefined : rateLimited(wait))
  })
}
