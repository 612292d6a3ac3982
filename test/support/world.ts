import { randomUUID } from 'node:crypto'
import type { LightMyRequestResponse } from 'fastify'
import * as assert from 'uvu/assert'
import type { BodyOf } from '../../src/contract/route.ts'
import type { NewSession, sessions } from '../../src/contract/sessions.ts'
import { tracePath } from '../../src/server/pages/links.ts'
import { freshDatabase } from './database.ts'
import { type Answer, type App, type Call, type OpenOptions, openApp } from './open-app.ts'

type WorldOptions = OpenOptions & {
  /** Whether the database has empty read models at first. Default true. */
  readonly readModels?: boolean
}

/**
 * The environment of a world in which there are summaries, erasure, retention, the audit tree and the refresh of the catalogue of models. Others have no
 * `worker`: a node without it opens 15 connections instead of 21, which takes most of the time of a short test.
 */
export const WITH_WORKER = { ROLES: 'api,projector,worker' }

/** A database of its own for a service of which no node runs yet. */
export const newEmptyWorld = async ({ readModels = true, env = {}, ...others }: WorldOptions = {}) => {
  const options = { ...others, env: { ROLES: 'api,projector', ...env } }
  const database = await freshDatabase({ readModels })
  const nodes: App[] = []
  /** Opens another node of the service: with the same options, but for those that are given. */
  const openNode = async (more: OpenOptions = {}): Promise<App> => {
    const node = await openApp(database.url, { ...options, ...more, env: { ...options.env, ...more.env } })
    nodes.push(node)
    return node
  }
  const close = async () => {
    for (const node of nodes) await node.close()
    await database.drop()
  }
  return { database, openNode, close }
}

export type EmptyWorld = Awaited<ReturnType<typeof newEmptyWorld>>

/** A service on a database of its own. */
export const newWorld = async (options?: WorldOptions) => {
  const world = await newEmptyWorld(options)
  return { ...world, node: await world.openNode() }
}

export type World = Awaited<ReturnType<typeof newWorld>>

export type Suite = { after(close: () => Promise<void>): unknown }

/** An empty world until the tests of a suite are over. */
export const openEmptyWorld = async (test: Suite, options?: WorldOptions): Promise<EmptyWorld> => {
  const world = await newEmptyWorld(options)
  test.after(world.close)
  return world
}

/** A world until the tests of a suite are over. */
export const openWorld = async (test: Suite, options?: WorldOptions): Promise<World> => {
  const world = await newWorld(options)
  test.after(world.close)
  return world
}

/** A world until the runner has no more files for this process, for several files of it. Nothing but a test summarises its traces. */
export const openLastingWorld = async (): Promise<World> => {
  const world = await newWorld({ env: { SUMMARY_PROVIDER: 'none' } })
  process.once('disconnect', () => void world.close())
  return world
}

let shared: Promise<World> | undefined

/**
 * The world that the test files of a process share, because a node opens some 15 connections. It has been used before: such a file names no user,
 * namespace or public trace as another file could, and looks at nothing that others change.
 */
export const sharedWorld = (): Promise<Pick<World, 'node'>> => (shared ??= openLastingWorld())

type Method = Parameters<Call>[0]

type Headers = Readonly<Record<string, string>>
type Get = (url: string, headers?: Headers) => Promise<LightMyRequestResponse>

/** Who asks a node; without a token nobody in particular. */
export type Caller = {
  /** With the token, if there is one. */
  readonly headers: Headers
  readonly ask: (method: Method, url: string, body?: unknown) => Promise<Answer>
  /** Asserts that the answer is 200, and returns its data. */
  readonly send: <Data = unknown>(method: Method, url: string, body?: unknown) => Promise<Data>
  /** The whole answer, which need not be JSON. */
  readonly get: Get
  /** The whole answer to a browser that shows a page. */
  readonly open: Get
}

export const callerOf = (node: Pick<App, 'app' | 'call'>, token?: string): Caller => {
  const headers: Headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const ask: Caller['ask'] = (method, url, body) => node.call(method, url, { token, body })
  const get: Get = (url, more) => node.app.inject({ url, headers: { ...headers, ...more } })
  return {
    headers,
    ask,
    send: async (method, url, body) => {
      const { status, data, error } = await ask(method, url, body)
      assert.is(status, 200, `${method} ${url}: ${JSON.stringify(error)}`)
      return data
    },
    get,
    open: (url, more) => get(url, { accept: 'text/html', ...more }),
  }
}

/** The body of an answer that must be 200. */
export const bodyOf = async (asked: Promise<LightMyRequestResponse>): Promise<string> => {
  const { statusCode, body } = await asked
  assert.is(statusCode, 200, body.slice(0, 500))
  return body
}

/** A trace as tests name it. */
export type NamedTrace = {
  readonly id: string
  readonly externalId: string
  /** Of its route, and of the page that shows it. */
  readonly url: string
  readonly page: string
}

/** A user, in one of their sessions. */
export type Person = Caller &
  NewSession & {
    readonly namespaceId: string
    readonly namespaceSlug: string
    /** Puts messages into a trace, in batches as large as may be. */
    readonly say: (url: string, messages: readonly object[]) => Promise<void>
    readonly newTrace: (fields?: object, messages?: readonly object[], externalId?: string) => Promise<NamedTrace>
    /** A new namespace, of which they are the admin. */
    readonly newTeam: (slug?: string) => Promise<{ readonly id: string; readonly slug: string }>
    /** Lets another person join a namespace by an invite. */
    readonly admit: (slug: string, guest: Caller, role?: 'member' | 'admin') => Promise<void>
  }

const BATCH = 200

const personOf = (node: Pick<App, 'app' | 'call'>, session: NewSession): Person => {
  const caller = callerOf(node, session.token)
  const { send } = caller
  const { namespaceId = '', namespaceSlug = '' } = session
  const say: Person['say'] = async (url, messages) => {
    for (let from = 0; from < messages.length; from += BATCH)
      await send('POST', `${url}/messages/batch`, { messages: messages.slice(from, from + BATCH) })
  }
  return {
    ...session,
    ...caller,
    namespaceId,
    namespaceSlug,
    say,
    newTrace: async (fields = {}, messages = [], externalId = randomUUID()) => {
      const url = `/v1/traces/${encodeURIComponent(externalId)}`
      const { trace } = await send<{ trace: { id: string } }>('PUT', url, fields)
      await say(url, messages)
      return { id: trace.id, externalId, url, page: tracePath(namespaceSlug, externalId) }
    },
    newTeam: async (slug = `team-${randomUUID().slice(0, 13)}`) => {
      const made = await send<{ namespace: { id: string } }>('POST', '/v1/namespaces', { slug, displayName: slug })
      return { id: made.namespace.id, slug }
    },
    admit: async (slug, guest, role = 'member') => {
      const { invite } = await send<{ invite: { code: string } }>('POST', `/v1/namespaces/${slug}/invites`, { role })
      await guest.send('POST', `/v1/invites/${invite.code}/accept`)
    },
  }
}

/** Starts a session by a device. A new device is that of a new user. */
export const signIn = async (
  node: Pick<App, 'app' | 'call'>,
  deviceId: string = randomUUID(),
  more: Omit<BodyOf<(typeof sessions)['POST /v1/session']>, 'deviceId'> = {},
): Promise<Person> => {
  const { session } = await callerOf(node).send<{ session: NewSession }>('POST', '/v1/session', { deviceId, ...more })
  return personOf(node, session)
}
