import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { ask, tokenIn } from './api.ts'
import { freshDatabase } from '../../support/database.ts'
import { openAudited } from '../../proof/support.ts'
import { type User, inTemporary, newUser } from './processes.ts'

export type World = {
  readonly url: string
  readonly databaseUrl: string
  /** All that the world has stands below it. */
  readonly folder: string
  /** A user who is logged in. */
  readonly user: User
  /** Another user, who is logged in. */
  newUser(name: string): Promise<User>
  /** Stores a trace of a user, with messages of these texts, the user's and the agent's in turn. */
  putTrace(user: User, externalId: string, fields?: object, texts?: readonly string[]): Promise<void>
  /** Ends the service before the work has ended. */
  stop(): Promise<void>
}

const messageOf = (text: string, i: number) => ({
  externalId: `m-${i}`,
  role: i % 2 === 0 ? 'user' : 'assistant',
  order: i,
  parts: [{ type: 'text', content: { text } }],
})

/** Gives the work a service of its own, in this process, and a user of it. */
export const inWorld = (work: (world: World) => Promise<unknown>) =>
  inTemporary(async (folder) => {
    const database = await freshDatabase()
    const { app, close } = await openAudited(database, { env: { SUMMARY_PROVIDER: 'none' } })
    let closing: Promise<void> | undefined
    const stop = () => (closing ??= close())
    try {
      const url = await app.listen({ host: '127.0.0.1', port: 0 })
      const logIn = async (name: string) => {
        const user = newUser(join(folder, name), url)
        assert.is((await user.run('login')).how, 0)
        return user
      }
      const putTrace: World['putTrace'] = async ({ config }, externalId, fields = {}, texts = []) => {
        const token = tokenIn(config)
        const path = `/v1/traces/${encodeURIComponent(externalId)}`
        await ask(url, path, { token, method: 'PUT', body: { agentId: 'claude-code', ...fields } })
        if (texts.length === 0) return
        await ask(url, `${path}/messages/batch`, { token, method: 'POST', body: { messages: texts.map(messageOf) } })
      }
      await work({ url, databaseUrl: database.url, folder, user: await logIn('ada'), newUser: logIn, putTrace, stop })
    } finally {
      await stop()
      await database.drop()
    }
  })

/** The namespace of a user's login. */
export const namespaceOf = async (url: string, { config }: User): Promise<string> =>
  (await ask<{ namespace: { slug: string } }>(url, '/v1/session', { token: tokenIn(config) })).namespace.slug
