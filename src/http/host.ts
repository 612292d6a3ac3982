import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { HttpError } from './http-error.ts'
import { hostnameOf } from './host-names.ts'
import { isLoopback } from './loopback.ts'
import { listensOnLoopback } from './reach.ts'
import { unhookedHeaders } from './security.ts'
import type { HttpConfig } from './settings.ts'

type Place = Pick<HttpConfig, 'HOST' | 'PUBLIC_URL' | 'ALLOWED_HOSTS'>

type Asked = Pick<IncomingMessage, 'rawHeaders' | 'httpVersion'>

/** Why the `Host` header of a request is refused: `invalid_request` or `forbidden`; undefined when it is not. */
export type HostCheck = (request: Asked) => HttpError | undefined

const hostsOf = ({ rawHeaders }: Asked): string[] => {
  const hosts: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === 'host') hosts.push(rawHeaders[i + 1]!)
  return hosts
}

const broken = (message: string) => new HttpError('invalid_request', message)

const SHOWN = 100

const foreign = (hostname: string) =>
  new HttpError(
    'forbidden',
    `This service does not answer to the host ${hostname.slice(0, SHOWN)}: ALLOWED_HOSTS names those that it answers to`,
  )

/**
 * A page that has its own name resolve to this machine (DNS rebinding) is of one origin with what answers there: only the
 * `Host` header gives it away. So a service that listens on loopback answers to names of this machine, to that of
 * `PUBLIC_URL` and to `ALLOWED_HOSTS`, on any port; any other service does the same once `ALLOWED_HOSTS` is set.
 * `X-Forwarded-Host` says nothing here.
 */
export const newHostCheck = ({ HOST, PUBLIC_URL, ALLOWED_HOSTS }: Place): HostCheck => {
  const isChecked = listensOnLoopback({ HOST }) || ALLOWED_HOSTS.length > 0
  const known = new Set([...ALLOWED_HOSTS, ...(PUBLIC_URL ? [new URL(PUBLIC_URL).hostname] : [])])
  return (request) => {
    const [header, ...others] = hostsOf(request)
    if (others.length > 0) return broken('There is more than one Host header')
    // HTTP/1.0 may do without, and probes do.
    if (header === undefined && !isChecked && request.httpVersion === '1.0') return undefined
    if (!header) return broken('The Host header is missing')
    const hostname = hostnameOf(header)
    if (hostname === undefined) return broken('The Host header is not valid')
    return !isChecked || isLoopback(hostname) || known.has(hostname) ? undefined : foreign(hostname)
  }
}

/** Refuses, before anything else is looked at, what does not ask for a host that this service answers to: 400, 403. */
export const installHost = (app: FastifyInstance, config: HttpConfig, check: HostCheck): void => {
  // The hooks that would set them come later.
  const headers = unhookedHeaders(config)
  app.addHook('onRequest', (request, reply, done) => {
    const refusal = check(request.raw)
    if (refusal) reply.headers(headers)
    done(refusal)
  })
}
