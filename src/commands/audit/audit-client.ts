import { io } from '../../cli/io.ts'
import { z } from 'zod'
import { type Answer, type AnswerBytes, exchange, MAX_BYTES } from '../../client/api/exchange.ts'
import { networkError } from '../../client/api/answer-data.ts'
import { configDir } from '../../client/config.ts'
import { notLoggedInError, sessionHasEnded } from '../../client/login/connect.ts'
import { readCredentials } from '../../client/login/credentials.ts'

const TIMEOUT_MS = 30_000

/**
 * A client for the audit routes of a service. Every method throws an Error that says what was refused, and UsageError if a login
 * is needed.
 */
export type AuditClient = {
  text(path: string): Promise<string>
  bytes(path: string): Promise<Buffer>
  /** The data of an answer, checked against the schema. */
  data<T>(path: string, schema: z.ZodType<T>): Promise<T>
  /** Like `data`; if the answer will exist soon, how many seconds to wait; undefined if it does not exist. */
  dataSoon<T>(path: string, schema: z.ZodType<T>): Promise<T | { readonly retryAfter: number } | undefined>
}

const Refusal = z.object({ error: z.object({ message: z.string() }) })

const refusalOf = (server: string, path: string, { status, text }: Answer): Error => {
  let message = `status ${status}`
  try {
    message = Refusal.parse(JSON.parse(text)).error.message
  } catch {
    // not an answer of Tracebook
  }
  return new Error(`${server}${path}: ${message}`)
}

const isOk = ({ status }: Answer): boolean => status >= 200 && status <= 299

/** Asks with the token of `tracebook login`, if there is one for the server. */
export const openAuditClient = async (server: string): Promise<AuditClient> => {
  const config = configDir(io().env)
  const token = (await readCredentials(config, server))?.login?.token
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }

  const get = async (path: string): Promise<AnswerBytes> => {
    const request = { url: `${server}${path}`, method: 'GET', headers }
    const answer = await exchange(request, { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES }).catch((error: Error) => {
      throw networkError(server, error)
    })
    if (answer.status === 401) throw token === undefined ? notLoggedInError(config, server) : sessionHasEnded(server)
    return answer
  }

  const parse = <T>(path: string, body: string, schema: z.ZodType<T>): T => {
    const found = z.object({ data: schema }).safeParse(JSON.parse(body))
    if (!found.success)
      throw new Error(`${server} is not the address of a Tracebook server: ${path} has another format.`)
    return found.data.data as T
  }

  const found = async (path: string) => {
    const answer = await get(path)
    if (!isOk(answer)) throw refusalOf(server, path, answer)
    return answer
  }

  const text = async (path: string) => (await found(path)).text
  const bytes = async (path: string) => (await found(path)).bytes

  const dataSoon = async <T>(path: string, schema: z.ZodType<T>) => {
    const answer = await get(path)
    const retryAfter = answer.headers.get('retry-after')
    if (answer.status === 404) return retryAfter === null ? undefined : { retryAfter: Number(retryAfter) }
    if (!isOk(answer)) throw refusalOf(server, path, answer)
    return parse(path, answer.text, schema)
  }

  return { text, bytes, data: async (path, schema) => parse(path, await text(path), schema), dataSoon }
}
