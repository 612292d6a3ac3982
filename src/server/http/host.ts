import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { ForeignHost, HttpError } from './http-error.ts'
import { hostnameOf, isLoopback } from './address.ts'
import { unhookedHeaders } from './security.ts'
import type { HttpConfig } from './settings.ts'

/** The settings that decide who can reach the service. */
export type NetworkSettings = Pick<HttpConfig, 'HOST' | 'PUBLIC_URL' | 'TRUST_PROXY' | 'ALLOWED_HOSTS'>

/** Whether all connections come from this machine. A proxy on this machine may still serve others. */
export const listensOnLoopback = ({ HOST }: Pick<NetworkSettings, 'HOST'>): boolean => isLoopback(HOST)

/**
 * Whether other machines can reach the service: directly, or through a proxy, which is assumed if a public URL,
 * trusted proxies, or other host names are set.
 */
export const isReachedByOthers = ({ HOST, PUBLIC_URL, TRUST_PROXY, ALLOWED_HOSTS }: NetworkSettings): boolean =>
  !listensOnLoopback({ HOST }) ||
  (PUBLIC_URL !== undefined && !isLoopback(new URL(PUBLIC_URL).hostname)) ||
  TRUST_PROXY !== false ||
  !ALLOWED_HOSTS.every(isLoopback)

type HostSettings = Pick<HttpConfig, 'HOST' | 'PUBLIC_URL' | 'ALLOWED_HOSTS'>

type RequestHead = Pick<IncomingMessage, 'rawHeaders' | 'httpVersion'>

/** The error for the `Host` header of a request: `invalid_request` or `forbidden`; undefined if the header is accepted. */
export type HostCheck = (request: RequestHead) => HttpError | undefined

const hostsOf = ({ rawHeaders }: RequestHead): string[] => {
  const hosts: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === 'host') hosts.push(rawHeaders[i + 1]!)
  return hosts
}

const malformed = (message: string) => new HttpError('invalid_request', message)

const MAX_SHOWN = 100

/**
 * Protects from DNS rebinding: for browsers, a website whose name resolves to this machine has the same origin as the service,
 * and only the `Host` header tells them apart. So a service that listens on loopback answers only to names of this machine, the host of
 * `PUBLIC_URL` and `ALLOWED_HOSTS`, on any port; any other service does so if `ALLOWED_HOSTS` is set. `X-Forwarded-Host` is
 * not used.
 */
export const newHostCheck = ({ HOST, PUBLIC_URL, ALLOWED_HOSTS }: HostSettings): HostCheck => {
  const isChecked = listensOnLoopback({ HOST }) || ALLOWED_HOSTS.length > 0
  const known = new Set([...ALLOWED_HOSTS, ...(PUBLIC_URL ? [new URL(PUBLIC_URL).hostname] : [])])
  /** Most clients send the same header as the one before. */
  let lastAccepted: string | undefined
  return (request) => {
    const [header, ...others] = hostsOf(request)
    if (others.length > 0) return malformed('The request has more than one Host header: send one')
    if (header !== undefined && header === lastAccepted) return undefined
    // HTTP/1.0 does not require the header, and some probes omit it.
    if (header === undefined && !isChecked && request.httpVersion === '1.0') return undefined
    if (!header) return malformed('The request has no Host header: send one')
    const hostname = hostnameOf(header)
    if (hostname === undefined)
      return malformed('The Host header is not valid: send a name or an address, and a port if needed')
    if (isChecked && !isLoopback(hostname) && !known.has(hostname))
      return new ForeignHost(hostname.slice(0, MAX_SHOWN), PUBLIC_URL !== undefined)
    lastAccepted = header
    return undefined
  }
}

/** Checks the host before anything else: 400 for a malformed header, 403 for another host. */
export const installHost = (app: FastifyInstance, config: HttpConfig, check: HostCheck): void => {
  app.addHook('onRequest', (request, reply, done) => {
    const refusal = check(request.raw)
    if (refusal) reply.headers(unhookedHeaders(config, request))
    done(refusal)
  })
}
