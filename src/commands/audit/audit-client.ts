import { io } from '../../cli/io.ts'
import { z } from 'zod'
import { boundedFetch } from '../../sync/api/bounded-fetch.ts'
import { configDir } from '../../sync/config.ts'
import { notLoggedInError, sessionHasEnded } from '../../sync/login/connect.ts'
import { readCredentials } from '../../sync/login/credentials.ts'

const TIMEOUT_MS = 30_000

/**
 * What a service answers to the questions of an auditor. Every method throws an Error that says what was refused, and UsageError where a
 * login is needed.
 */
export type AuditClient = {
  text(path: string): Promise<string>
  /** The data of an answer that fits the schema. */
  data<T>(path: string, schema: z.ZodType<T>): Promise<T>
  /** The same, or how long to wait, in seconds, where the answer will be there soon; undefined where there is nothing. */
  dataSoon<T>(path: string, schema: z.ZodType<T>): Promise<T | { readonly retryAfter: number } | undefined>
}

const Refusal = z.object({ error: z.object({ message: z.string() }) })

const refusalOf = (server: string, path: string, { status }: Response, body: string): Error => {
  let message = `status ${status}`
  try {
    message = Refusal.parse(JSON.parse(body)).error.message
  } catch {
    // no answer of Tracebook
  }
  return new Error(`${server}${path}: ${message}`)
}

/** Asks with the token of `tracebook login`, if there is one for the server. */
export const openAuditClient = async (server: string): Promise<AuditClient> => {
  const config = configDir(io().env)
  const token = (await readCredentials(config, server))?.login?.token
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }

  const get = async (path: string) => {
    const request = new Request(`${server}${path}`, { headers, redirect: 'manual' })
    const response = await boundedFetch(request, TIMEOUT_MS).catch((error: Error) => {
      const { code } = (error.cause ?? {}) as { code?: string }
      throw new Error(`cannot reach ${server}: ${code ?? error.message}`, { cause: error })
    })
    if (response.status === 401) throw token === undefined ? notLoggedInError(config, server) : sessionHasEnded(server)
    return { response, body: await response.text() }
  }

  const parse = <T>(path: string, body: string, schema: z.ZodType<T>): T => {
    const found = z.object({ data: schema }).safeParse(JSON.parse(body))
    if (!found.success) throw new Error(`${server}${path}: this is not the address of a Tracebook server`)
    return found.data.data as T
  }

  const text = async (path: string) => {
    const { response, body } = await get(path)
    if (!response.ok) throw refusalOf(server, path, response, body)
    return body
  }

  const dataSoon = async <T>(path: string, schema: z.ZodType<T>) => {
    const { response, body } = await get(path)
    const retryAfter = response.headers.get('retry-after')
    if (response.status === 404) return retryAfter === null ? undefined : { retryAfter: Number(retryAfter) }
    if (!response.ok) throw refusalOf(server, path, response, body)
    return parse(path, body, schema)
  }

  return { text, data: async (path, schema) => parse(path, await text(path), schema), dataSoon }
}
