import { z } from 'zod'
import { RequestFailed } from './errors.ts'
import { realWaiting, type Waiting, withRetry } from './retry.ts'

const patienceMs = 120_000

const NewSession = z.object({
  session: z.object({ token: z.string(), userId: z.string(), namespaceId: z.string(), namespaceSlug: z.string() }),
})
const CurrentSession = z.object({
  session: z.object({ userId: z.string(), namespaceId: z.string(), namespaceSlug: z.string() }),
  user: z.object({ displayName: z.string().optional() }).optional(),
})
const FoundNamespace = z.object({
  namespace: z.object({ id: z.string(), slug: z.string(), role: z.string().optional() }),
})
const FoundTrace = z.object({ trace: z.object({ visibility: z.string(), namespace: z.object({ id: z.string() }) }) })
const Upserted = z.object({ created: z.int(), updated: z.int(), unchanged: z.int() })
const Refused = z.object({ error: z.object({ code: z.string(), message: z.string() }) })

export type NewSession = z.infer<typeof NewSession>['session']
export type FoundTrace = z.infer<typeof FoundTrace>['trace']
export type Upserted = z.infer<typeof Upserted>
type TraceBody = Readonly<Record<string, string>>
type DeviceBody = { readonly deviceId: string; readonly deviceName?: string; readonly namespaceId?: string }

/** What the command line needs of the service. Every method throws RequestFailed. */
export type Api = {
  readonly newSession: (device: DeviceBody) => Promise<NewSession>
  readonly session: () => Promise<z.infer<typeof CurrentSession>>
  readonly namespace: (slug: string) => Promise<z.infer<typeof FoundNamespace>['namespace']>
  readonly trace: (externalId: string) => Promise<FoundTrace>
  readonly putTrace: (externalId: string, fields: TraceBody) => Promise<void>
  readonly patchTrace: (externalId: string, fields: TraceBody) => Promise<void>
  /** `messages`: JSON texts, at most 200, as they go into the body. */
  readonly upsertMessages: (externalId: string, messages: readonly string[]) => Promise<Upserted>
}

/** What a batch's body needs around its messages, in bytes. */
export const batchBody = (messages: readonly string[]): string => `{"messages":[${messages.join(',')}]}`

const retryAfterOf = (header: string | null): number | undefined => {
  if (header === null) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

const reasonOf = (error: unknown): string => {
  const { name, cause } = error as { name?: string; cause?: { code?: string; message?: string } }
  if (name === 'TimeoutError') return 'no answer in time'
  return cause?.code === 'ECONNREFUSED' ? 'connection refused' : (cause?.message ?? cause?.code ?? String(error))
}

const send = async (server: string, token: string | undefined, method: string, path: string, body?: string) => {
  const headers = {
    accept: 'application/json',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  }
  const signal = AbortSignal.timeout(patienceMs)
  try {
    // A redirect is not followed: a token goes to the server that gave it and nowhere else.
    const init = { method, headers, signal, redirect: 'manual' as const, ...(body === undefined ? {} : { body }) }
    const response = await fetch(`${server}${path}`, init)
    return { response, text: await response.text() }
  } catch (error) {
    throw new RequestFailed(`cannot reach ${server}: ${reasonOf(error)}`, {}, { cause: error })
  }
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const dataOf = <T>(schema: z.ZodType<T>, server: string, response: Response, text: string): T => {
  const { status, headers } = response
  const json = jsonOf(text)
  const { data } = z.object({ ok: z.literal(true), data: schema }).safeParse(json)
  if (response.ok && data) return data.data
  const refused = Refused.safeParse(json).data?.error
  const retryAfterMs = retryAfterOf(headers.get('retry-after'))
  const code = refused && { code: refused.code }
  const place = headers.get('location')
  const said = place ? `it moved to ${place}` : response.ok ? 'it does not answer like Tracebook' : `status ${status}`
  throw new RequestFailed(refused?.message ?? `${server}: ${said}`, {
    status,
    ...code,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

/** The service at `server` (an address without trailing slash) as the holder of `token` sees it. Failures that may pass are retried. */
export const newApi = (server: string, token?: string, waiting: Waiting = realWaiting): Api => {
  const call = <T>(schema: z.ZodType<T>, method: string, path: string, body?: string): Promise<T> =>
    withRetry(async () => {
      const { response, text } = await send(server, token, method, path, body)
      return dataOf(schema, server, response, text)
    }, waiting)
  const pathOf = (externalId: string) => `/v1/traces/${encodeURIComponent(externalId)}`
  const writeTrace = (method: string) => async (externalId: string, fields: TraceBody) => {
    await call(z.unknown(), method, pathOf(externalId), JSON.stringify(fields))
  }
  return {
    newSession: async (device) => (await call(NewSession, 'POST', '/v1/session', JSON.stringify(device))).session,
    session: () => call(CurrentSession, 'GET', '/v1/session'),
    namespace: async (slug) =>
      (await call(FoundNamespace, 'GET', `/v1/namespaces/${encodeURIComponent(slug)}`)).namespace,
    trace: async (externalId) => (await call(FoundTrace, 'GET', pathOf(externalId))).trace,
    putTrace: writeTrace('PUT'),
    patchTrace: writeTrace('PATCH'),
    upsertMessages: (externalId, messages) =>
      call(Upserted, 'POST', `${pathOf(externalId)}/messages/batch`, batchBody(messages)),
  }
}
