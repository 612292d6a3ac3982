import createClient, { type Client } from 'openapi-fetch'
import { MAX_BYTES, boundedFetch } from './bounded-fetch.ts'
import type { paths } from './openapi.d.ts'

const TIMEOUT_MS = 120_000

/** Sends requests to `server` as the session of `token`; answers over `maxBytes` are refused. */
export const newHttp = (server: string, token: string | undefined, maxBytes = MAX_BYTES): Client<paths> =>
  createClient<paths>({
    baseUrl: server,
    // Redirects are not followed, so that a token never reaches another server.
    redirect: 'manual',
    headers: { accept: 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    fetch: (request) => boundedFetch(request, TIMEOUT_MS, maxBytes),
  })
