import { isLoopback } from './loopback.ts'
import type { HttpConfig } from './settings.ts'

/** What says where requests come from. */
export type Place = Pick<HttpConfig, 'HOST' | 'PUBLIC_URL' | 'TRUST_PROXY' | 'ALLOWED_HOSTS'>

/** Whether all connections come from this machine; those of a proxy may be for anybody. */
export const listensOnLoopback = ({ HOST }: Pick<Place, 'HOST'>): boolean => isLoopback(HOST)

/**
 * Whether others than this machine can reach the service: directly, or through a proxy before it, of which a public
 * address, proxies that are believed, and hosts besides those of this machine are signs.
 */
export const isReachedByOthers = ({ HOST, PUBLIC_URL, TRUST_PROXY, ALLOWED_HOSTS }: Place): boolean =>
  !listensOnLoopback({ HOST }) ||
  (PUBLIC_URL !== undefined && !isLoopback(new URL(PUBLIC_URL).hostname)) ||
  TRUST_PROXY !== false ||
  !ALLOWED_HOSTS.every(isLoopback)
