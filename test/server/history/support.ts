import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import type { NewSession } from '../../../src/contract/sessions.ts'
import type { MessageUpsert } from '../../../src/server/trace/messages/message.ts'
import { freshDatabase } from '../../support/database.ts'
import { type App, openApp } from '../../support/open-app.ts'

export const signIn = async ({ call }: App): Promise<NewSession> =>
  ((await call('POST', '/v1/session', { body: { deviceId: randomUUID() } })).data as { session: NewSession }).session

/** Asks as a client, and gives the text of the answer. */
export const newAsk =
  ({ app }: App, token: string | undefined) =>
  async (method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE', url: string, body?: string) => {
    const headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    }
    const answer = await app.inject({ method, url, headers, ...(body === undefined ? {} : { payload: body }) })
    return { status: answer.statusCode, text: answer.payload }
  }

export type Ask = ReturnType<typeof newAsk>

/** A service over a database of its own, with a user who asks it. Nothing but the test summarises traces. */
export const openHistory = async () => {
  const database = await freshDatabase()
  const node = await openApp(database.url, { env: { SUMMARY_PROVIDER: 'none' } })
  const user = await signIn(node)
  const close = async () => {
    await node.close()
    await database.drop()
  }
  return { node, user, ask: newAsk(node, user.token), close }
}

/** The text of an answer that must be one. */
export const okText = async (asked: ReturnType<Ask>): Promise<string> => {
  const { status, text } = await asked
  assert.is(status, 200, text)
  return text
}

export const dataOf = async <T>(asked: ReturnType<Ask>): Promise<T> =>
  (JSON.parse(await okText(asked)) as { data: T }).data

/** The body of a batch, from upserts as decisions take them. */
export const batchBody = (upserts: readonly MessageUpsert[]): string => {
  const items = upserts.map(({ externalId, given }) => {
    const { parts, ...fields } = given
    const head = JSON.stringify({ externalId, ...fields }).slice(0, -1)
    return parts ? `${head},"parts":[${parts.map(({ json }) => json).join(',')}]}` : `${head}}`
  })
  return `{"messages":[${items.join(',')}]}`
}
