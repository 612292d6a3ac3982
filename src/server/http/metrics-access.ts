import type { FastifyRequest } from 'fastify'
import { isSameSecret } from '../../base/same-secret.ts'
import { hostnameOf, isLoopback } from './address.ts'
import type { HttpConfig } from './settings.ts'

/** The headers by which proxies say that they pass on the request of someone else. */
const FORWARDED = /^(?:forwarded|via|x-real-ip|x-forwarded-.*)$/

/** What browsers say in `Sec-Fetch-Site` of a request that no page of another site has made. */
const OWN_SITES: ReadonlySet<unknown> = new Set([undefined, 'none', 'same-origin'])

/**
 * Whether a request comes from a program on this machine, over no proxy. A website cannot make it: its pages send `Origin` or `Sec-Fetch-Site`, and a
 * name of its own that leads to this machine is not a loopback one.
 */
const isFromThisMachine = ({ raw: { socket }, headers }: FastifyRequest): boolean =>
  isLoopback(socket.remoteAddress ?? '') &&
  isLoopback(hostnameOf(headers.host ?? '') ?? '') &&
  headers.origin === undefined &&
  OWN_SITES.has(headers['sec-fetch-site']) &&
  !Object.keys(headers).some((name) => FORWARDED.test(name))

/** Whether a request may read the metrics: it comes from this machine, or has the bearer token `METRICS_TOKEN`. */
export const mayReadMetrics = (
  { METRICS_TOKEN: token }: Pick<HttpConfig, 'METRICS_TOKEN'>,
  request: FastifyRequest,
): boolean => {
  const given = /^bearer +(\S+)$/i.exec(request.headers.authorization?.trim() ?? '')?.[1]
  return isFromThisMachine(request) || (token !== undefined && given !== undefined && isSameSecret(given, token))
}
