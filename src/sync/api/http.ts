import createClient, { type Client } from 'openapi-fetch'
import { MAX_BYTES } from './bounded-fetch.ts'
import { exchange, HttpRequest } from './exchange.ts'
import type { paths } from './openapi.d.ts'

const TIMEOUT_MS = 120_000

/**
 * Sends requests to `server` as the session of `token`; answers over `maxBytes` are refused. No redirects are followed, so that a
 * token never reaches another server.
 */
export const newHttp = (server: string, token: string | undefined, maxBytes = MAX_BYTES): Client<paths> =>
  createClient<paths>({
    baseUrl: server,
    headers: { accept: 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    Request: HttpRequest as unknown as typeof Request,
    fetch: (request) =>
      exchange(request as unknown as HttpRequest, { timeoutMs: TIMEOUT_MS, maxBytes }) as unknown as Promise<Response>,
  })
