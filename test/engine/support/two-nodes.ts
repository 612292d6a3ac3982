import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import { inFolder } from '../../embedded/support.ts'
import { type Answered, type Service, serveOn } from '../../fault/support/service.ts'
import { freshDatabase } from '../../support/database.ts'
import { logEnvironment } from '../../support/log-place.ts'

/** Two processes of one service. Only one of them builds the read models, and so hears of everything first. */
export type Nodes = readonly [Service, Service]

/** Starts two processes on a database of their own, and ends them after the work. */
export const inTwoProcesses = async (work: (nodes: Nodes) => Promise<void>): Promise<void> => {
  const database = await freshDatabase({ readModels: false })
  await inFolder(async (folder) => {
    const env = { DATABASE_URL: database.url, ...logEnvironment(database.url), LOG_LEVEL: 'warn' }
    const nodes = await Promise.all([serveOn(folder, env), serveOn(folder, env)])
    try {
      await work(nodes)
    } finally {
      await Promise.all(nodes.map((node) => node.end('SIGTERM')))
      await database.drop()
    }
  })
}

/** Asks until there is an answer: on a busy machine a node may be behind for a moment, which it says with 503. */
export const call: (node: Service, ...asked: Parameters<Service['call']>) => Promise<Answered> = async (
  node,
  ...asked
) => {
  for (;;) {
    const answer = await node.call(...asked)
    if (answer.status !== 503) return answer
  }
}

/** What an answer of 200 holds. */
export const ask = async <Data>(
  node: Service,
  token: string | undefined,
  method: string,
  path: string,
  body?: unknown,
): Promise<Data> => {
  const { status, data, error } = await call(node, method, path, { token, body })
  assert.is(status, 200, `${method} ${path}: ${JSON.stringify(error)}`)
  return data
}

type SignedIn = { readonly token: string; readonly userId: string }

export const signIn = async (node: Service): Promise<SignedIn> => {
  const body = { deviceId: randomUUID() }
  return (await ask<{ session: SignedIn }>(node, undefined, 'POST', '/v1/session', body)).session
}

export const newNamespace = async (node: Service, token: string): Promise<{ id: string; slug: string }> => {
  const body = { slug: `team-${randomUUID().slice(0, 13)}`, displayName: 'Team' }
  type Made = { namespace: { id: string; slug: string } }
  return (await ask<Made>(node, token, 'POST', '/v1/namespaces', body)).namespace
}

/** Without the remedies 500 rounds lost 3 to 36 updates; `LOST_UPDATE_ROUNDS` says how many there are. */
const ROUNDS = Number(process.env.LOST_UPDATE_ROUNDS ?? 150)
const LANES = 25

/** Adds up what is lost in all rounds, many of them at once; each node is the first in half of them. */
export const lostInRounds = async (
  nodes: Nodes,
  work: (nodes: Nodes, round: number) => Promise<number>,
): Promise<number> => {
  const lane = async (_: unknown, i: number) => {
    let lost = 0
    for (let round = i; round < ROUNDS; round += LANES)
      lost += await work(round % 2 === 0 ? nodes : [nodes[1], nodes[0]], round)
    return lost
  }
  return (await Promise.all(Array.from({ length: LANES }, lane))).reduce((sum, lost) => sum + lost, 0)
}

/** One value that is kept in one stream: it can be set and read at each node. */
export type Value = {
  readonly set: (node: Service, value: string) => Promise<unknown>
  readonly get: (node: Service) => Promise<string | undefined>
  /** What it is set to; otherwise any text will do. */
  readonly values?: readonly [string, string]
}

/**
 * How often a value is not what it was set to last: X by one node, Y by the other, X again by the one, which may still
 * remember the first X.
 */
export const lostUpdates = async (nodes: Nodes, newValue: (node: Service) => Promise<Value>): Promise<number> => {
  const all = await Promise.all(Array.from({ length: LANES }, (_, i) => newValue(nodes[i % 2]!)))
  return lostInRounds(nodes, async ([one, other], round) => {
    const { set, get, values = [`x ${round}`, `y ${round}`] } = all[round % LANES]!
    const [x, y] = Math.floor(round / LANES) % 2 === 0 ? values : values.toReversed()
    let lost = 0
    await set(one, x!)
    await set(other, y!)
    if (round % 5 === 0 && (await get(one)) !== y) lost++
    await set(one, x!)
    if ((await get(round % 3 === 0 ? one : other)) !== x) lost++
    return lost
  })
}
