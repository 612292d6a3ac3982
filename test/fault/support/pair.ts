import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import { locks } from '../../../src/eventstore/engine/schema.ts'
import { inFolder } from '../../eventstore/embedded/support.ts'
import { freshDatabase } from '../../support/database.ts'
import { newLoop } from './loop.ts'
import { type Session, assertAsRebuilt, holderOf, isThere, openNode, schema } from './nodes.ts'
import { type Service } from './service.ts'
import { until } from '../../support/until.ts'

const RUNNER = locks.runner(schema)

export type Scene = {
  readonly url: string
  /** The node that leads at the beginning. */
  readonly first: Service
  readonly second: Service
  readonly token: string
  leader(): Promise<Session>
}

/** Two complete nodes on one database. The first one leads, because it was started first. */
export const inScene = (work: (scene: Scene) => Promise<void>) => () =>
  inFolder(async (folder) => {
    const { url, drop } = await freshDatabase()
    const services: Service[] = []
    const open = async (name: string) => {
      services.push(await openNode(folder, name, url))
      return services.at(-1)!
    }
    const leader = async () => {
      let found: Session | undefined
      await until(async () => (found = await holderOf(url, RUNNER)) !== undefined)
      return found!
    }
    try {
      const [first, second] = [await open('first'), await open('second')]
      await work({ url, first, second, token: await second.signIn('device'), leader })
    } finally {
      await Promise.all(services.map((service) => service.end('SIGKILL')))
      await drop()
    }
  })

export const freeze = ({ pid }: Service) => process.kill(pid, 'SIGSTOP')
export const thaw = ({ pid }: Service) => process.kill(pid, 'SIGCONT')

export const TRACE = `/v1/traces/${randomUUID()}`
/** 400 kB: more than a socket takes at once. */
const batch = (name: string) => ({
  messages: Array.from({ length: 20 }, (_, i) => ({
    externalId: `${name}-${i}`,
    role: 'user',
    textContent: `${name} `.padEnd(20_000, 'x'),
  })),
})

/** Sends a batch again and again until it has been stored. */
export const write = async (service: Service, token: string, name: string) => {
  const send = () => service.call('POST', `${TRACE}/messages/batch`, { token, body: batch(name) })
  await until(async () => (await send()).status === 200)
}

const namesIn = async (service: Service, token: string): Promise<string[]> => {
  const names: string[] = []
  let cursor = ''
  for (;;) {
    const { data } = await service.call('GET', `${TRACE}/messages?limit=10000${cursor}`, { token })
    const { messages, nextCursor } = data as { messages: { externalId: string }[]; nextCursor?: string | null }
    names.push(...messages.map(({ externalId }) => externalId))
    if (!nextCursor) return names
    cursor = `&cursor=${nextCursor}`
  }
}

/** Reads continuously, from memory and from the read models. Returns the answers that were not 200. */
export const newReader = (service: Service, token: string) => {
  const wrong: string[] = []
  const paths = [TRACE, `${TRACE}/messages?limit=3`, '/v1/feed', '/v1/session', '/v1/traces']
  const turn = async () => {
    for (const path of paths) {
      const { status, error } = await service.call('GET', path, { token })
      if (status !== 200) wrong.push(`${path}: ${status} ${JSON.stringify(error)}`)
    }
  }
  return { wrong, ...newLoop(turn, () => 20) }
}

/** Asserts that the other node leads, that both see everything stored by either, and that the read models are right. */
export const assertNoHarm = async (
  { url, first, second, token, leader }: Scene,
  heir: Session,
  names: readonly string[],
) => {
  await write(first, token, 'by the first')
  await write(second, token, 'by the second')
  for (const service of [first, second]) {
    await until(() => service.isReady())
    const seen = new Set(await namesIn(service, token))
    for (const name of [...names, 'by the first', 'by the second']) assert.ok(seen.has(`${name}-19`), name)
  }
  assert.equal(await leader(), heir)
  await assertAsRebuilt(url)
}

/** Writes through the second node while the first one is frozen. Returns the session that leads then. */
export const takeOver = async (scene: Scene, frozen: Session, name: string): Promise<Session> => {
  const { url, second, token, leader } = scene
  await write(second, token, name)
  const heir = await leader()
  assert.not.equal(heir, frozen)
  assert.not.ok(await isThere(url, frozen), 'the session of the frozen node has been ended')
  return heir
}
