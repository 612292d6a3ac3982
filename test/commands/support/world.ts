import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type Signer } from '../../../src/server/proof/note.ts'
import { audited } from '../../server/proof/support.ts'
import { newEmptyWorld } from '../../support/world.ts'
import { ask, tokenIn } from './api.ts'
import { type User, inTemporary, newUser } from './user.ts'

export type World = {
  readonly url: string
  readonly databaseUrl: string
  /** All files of the world are below it. */
  readonly folder: string
  /** A user who is logged in. */
  readonly user: User
  /** Another user, who is logged in. */
  newUser(name: string): Promise<User>
  /** A machine that is not logged in. */
  newMachine(name: string): User
  /** Stores a trace of a user, with messages of these texts, alternately by the user and the agent. */
  putTrace(user: User, externalId: string, fields?: object, texts?: readonly string[]): Promise<void>
  /** Stops the service. */
  stop(): Promise<void>
  /** Starts the service again at the same address, with another key for checkpoints if one is given. */
  restart(key?: Signer): Promise<void>
}

const messageOf = (text: string, i: number) => ({
  externalId: `m-${i}`,
  role: i % 2 === 0 ? 'user' : 'assistant',
  order: i,
  parts: [{ type: 'text', content: { text } }],
})

const putTrace: (url: string) => World['putTrace'] =
  (url) =>
  async ({ config }, externalId, fields = {}, texts = []) => {
    const token = tokenIn(config)
    const path = `/v1/traces/${encodeURIComponent(externalId)}`
    await ask(url, path, { token, method: 'PUT', body: { agentId: 'claude-code', ...fields } })
    if (texts.length === 0) return
    await ask(url, `${path}/messages/batch`, { token, method: 'POST', body: { messages: texts.map(messageOf) } })
  }

/** Runs `work` with a service of its own, in this process, and a user of it. */
export const inWorld = (work: (world: World) => Promise<unknown>) =>
  inTemporary(async (folder) => {
    const { database, openNode, close } = await newEmptyWorld({ env: { ...audited, SUMMARY_PROVIDER: 'none' } })
    let port = 0
    let stop = async () => {}
    const start = async (key?: Signer): Promise<string> => {
      const node = await openNode(key ? { env: { AUDIT_KEY: key.text } } : {})
      stop = node.close
      const url = await node.app.listen({ host: '127.0.0.1', port })
      port = Number(new URL(url).port)
      return url
    }
    try {
      const url = await start()
      const newMachine = (name: string) => newUser(join(folder, name), url)
      const logIn = async (name: string) => {
        const user = newMachine(name)
        assert.is((await user.run('login')).how, 0)
        return user
      }
      const restart = async (key?: Signer) => {
        await stop()
        await start(key)
      }
      const world = { url, databaseUrl: database.url, folder, newMachine, newUser: logIn, putTrace: putTrace(url) }
      await work({ ...world, user: await logIn('ada'), stop: () => stop(), restart })
    } finally {
      await close()
    }
  })

/** The namespace of a user's login. */
export const namespaceOf = async (url: string, { config }: User): Promise<string> =>
  (await ask<{ namespace: { slug: string } }>(url, '/v1/session', { token: tokenIn(config) })).namespace.slug
