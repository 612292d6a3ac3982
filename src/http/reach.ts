import { isLoopback } from './loopback.ts'
import type { HttpConfig } from './settings.ts'

/** The settings that decide who can reach the service. */
export type NetworkSettings = Pick<HttpConfig, 'HOST' | 'PUBLIC_URL' | 'TRUST_PROXY' | 'ALLOWED_HOSTS'>

/** Whether all connections come from this machine. A proxy on it may still serve others. */
export const listensOnLoopback = ({ HOST }: Pick<NetworkSettings, 'HOST'>): boolean => isLoopback(HOST)

/**
 * Whether clients on other machines can reach the service: directly, or through a proxy, which is assumed when a public URL,
 * trusted proxies, or hosts of other names are set.
 */
export const isReachedByOthers = ({ HOST, PUBLIC_URL, TRUST_PROXY, ALLOWED_HOSTS }: NetworkSettings): boolean =>
  !listensOnLoopback({ HOST }) ||
  (PUBLIC_URL !== undefined && !isLoopback(new URL(PUBLIC_URL).hostname)) ||
  TRUST_PROXY !== false ||
  !ALLOWED_HOSTS.every(isLoopback)
