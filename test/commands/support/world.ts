import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type Signer } from '../../../src/server/proof/note.ts'
import { audited } from '../../server/proof/support.ts'
import { newEmptyWorld, openLastingWorld } from '../../support/world.ts'
import { ask, tokenIn } from './api.ts'
import { type User, inTemporary, newUser } from './user.ts'

export type World = {
  readonly url: string
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
}

/** A world whose service no other test uses. */
export type OwnWorld = World & {
  readonly databaseUrl: string
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

const worldAt = async (url: string, folder: string): Promise<World> => {
  const newMachine = (name: string) => newUser(join(folder, name), url)
  const logIn = async (name: string) => {
    const user = newMachine(name)
    assert.is((await user.run('login')).how, 0)
    return user
  }
  return { url, folder, newMachine, newUser: logIn, putTrace: putTrace(url), user: await logIn('ada') }
}

let shared: Promise<string> | undefined
/** Another service than that of `sharedWorld`: addresses in pages are others once it listens. */
const listen = async () => (await openLastingWorld()).node.app.listen({ host: '127.0.0.1', port: 0 })

/** Runs `work` with a new user of a service that tests share, in this process: slugs, and ids that are UUIDs, may be taken. */
export const inWorld = (work: (world: World) => Promise<unknown>) =>
  inTemporary(async (folder) => work(await worldAt(await (shared ??= listen()), folder)))

/** Runs `work` with a service of its own, in this process, which signs checkpoints, and a user of it. */
export const inOwnWorld = (work: (world: OwnWorld) => Promise<unknown>) =>
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
    const restart = async (key?: Signer) => {
      await stop()
      await start(key)
    }
    try {
      const world = await worldAt(await start(), folder)
      await work({ ...world, databaseUrl: database.url, stop: () => stop(), restart })
    } finally {
      await close()
    }
  })

/** The namespace of a user's login. */
export const namespaceOf = async (url: string, { config }: User): Promise<string> =>
  (await ask<{ namespace: { slug: string } }>(url, '/v1/session', { token: tokenIn(config) })).namespace.slug
