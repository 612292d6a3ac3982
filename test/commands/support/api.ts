import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { FeedTrace } from '../../../src/contract/feed.ts'
import type { AnswerOf } from '../../../src/client/api/requests.ts'
import type { Part, SessionMessage } from '../../../src/client/agents/agent.ts'

export type Detail = AnswerOf<'GET /v1/traces/{externalId}'>['trace']
export type Feed = { readonly traces: readonly FeedTrace[]; readonly isAuthenticated: boolean }

/** The token that `tracebook login` has stored below a config folder. */
export const tokenIn = (config: string): string => {
  const [name] = readdirSync(join(config, 'servers'))
  return JSON.parse(readFileSync(join(config, 'servers', name!), 'utf8')).login.token
}

/** Sends a request, again while it is not answered in time, and returns the data of the answer, which must be a 200. */
export const ask = async <Data>(
  url: string,
  path: string,
  { token, method = 'GET', body }: { token?: string; method?: string; body?: object } = {},
): Promise<Data> => {
  const send = () =>
    fetch(`${url}${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  let answer = await send()
  while (answer.status === 503) answer = await send()
  const json = (await answer.json()) as { ok: boolean; data: Data }
  assert.is(answer.status, 200, JSON.stringify(json))
  return json.data
}

type Stored = { readonly id: string; readonly parts: readonly (Part & { order: number })[] } & Omit<
  SessionMessage,
  'parts'
>

/** The messages of a trace in their order, without the fields that the service adds: as a client sent them. */
export const messagesOf = async (url: string, externalId: string, token?: string): Promise<SessionMessage[]> => {
  const path = `/v1/traces/${encodeURIComponent(externalId)}/messages?includeParts=true`
  const { messages } = await ask<{ messages: Stored[] }>(url, path, token === undefined ? {} : { token })
  return messages.map(({ externalId, role, model, order, timestamp, usage, parts }) => ({
    externalId,
    role,
    ...(model === undefined ? {} : { model }),
    order,
    ...(timestamp === undefined ? {} : { timestamp }),
    ...(usage === undefined ? {} : { usage }),
    parts: parts.map(({ type, content }) => ({ type, content }) as Part),
  }))
}

/** Asserts that the stored messages are those that were sent, with exactly equal texts of their parts. */
export const assertSame = (stored: readonly SessionMessage[], sent: readonly SessionMessage[]): void => {
  assert.equal(stored, sent)
  const parts = (messages: readonly SessionMessage[]) => JSON.stringify(messages.map((message) => message.parts))
  assert.is(parts(stored), parts(sent))
}
