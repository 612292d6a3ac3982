import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { newId, traceId } from '../../../src/base/ids.ts'
import type { EventLog } from '../../../src/eventstore/log/log.ts'
import { wholeAppends } from '../../../src/eventstore/log/whole-appends.ts'
import { type Service, serveOn } from '../../fault/support/service.ts'
import { type Database, freshDatabase, onServer } from '../../support/database.ts'
import { openBareLog } from '../../support/bare-log.ts'
import { logEnvironment } from '../../support/log-place.ts'
import { inTemporary, run } from './user.ts'
import { until } from '../../support/until.ts'
import { typesSince } from '../../support/types-since.ts'

export const schema = schemaOf(mainGroup)

/** A service in a process of its own, which can be stopped and started, and a user with traces. */
export type Scene = { database: Database; folder: string; service: Service; token: string; namespaceId: string }

const serve = ({ folder, database: { url } }: Pick<Scene, 'folder' | 'database'>) =>
  serveOn(folder, {
    DATABASE_URL: url,
    ...logEnvironment(url),
    LOG_LEVEL: 'warn',
    SUMMARY_PROVIDER: 'none', // adds nothing to the log meanwhile
  })

/** A suite with one service for all its tests; each test has its own traces. */
export const quarantineSuite = (name: string) => {
  const test = suite<Scene>(name)
  const { promise: over, resolve: end } = Promise.withResolvers<void>()
  let ended: Promise<unknown>
  test.before(async (scene) => {
    scene.database = await freshDatabase()
    await new Promise<void>((begun) => {
      ended = inTemporary(async (folder) => {
        scene.folder = folder
        begun()
        await over
      })
    })
    await startAgain(scene)
    const { data } = await scene.service.call('POST', '/v1/session', { body: { deviceId: randomUUID() } })
    Object.assign(scene, (data as { session: { token: string; namespaceId: string } }).session)
  })
  test.after(async ({ service, database }) => {
    await service.end('SIGTERM')
    end()
    await ended
    await database.drop()
  })
  return test
}

export const startAgain = async (scene: Scene): Promise<void> => {
  scene.service = await serve(scene)
}

/** Runs a command as an operator does, on the machine of the service, whether that runs or not. */
export const tracebook = ({ database: { url }, folder }: Scene, ...words: string[]) =>
  run(words, { DATABASE_URL: url, DATA_DIR: join(folder, 'none'), ...logEnvironment(url) })

export const call = ({ service, token }: Scene, method: string, path: string, body?: unknown) =>
  service.call(method, `/v1/traces/${path}`, { token, body })

export const streamOf = ({ namespaceId }: Scene, trace: string) => `trace-${traceId(namespaceId, trace)}`

/** The texts of a trace's messages. */
export const textsOf = async (scene: Scene, trace: string): Promise<string[]> => {
  const { data } = await call(scene, 'GET', `${trace}/messages`)
  return (data as { messages: { textContent: string }[] }).messages.map(({ textContent }) => textContent)
}

const withLog = async <T>({ database }: Scene, work: (log: EventLog) => Promise<T>) => {
  const log = wholeAppends(openBareLog(database.url))
  return work(log).finally(() => log.close())
}

/** Appends an event to a stream without any checks. */
export const append = (scene: Scene, stream: string, type: string, data: object) =>
  withLog(scene, async (log) => {
    const metadata = JSON.stringify({ at: Date.now(), schema: 1, append: { id: newId(), index: 0, size: 1 } })
    const event = { id: newId(), type, data: JSON.stringify(data), metadata }
    return (await log.append(stream, (await log.last(stream))?.revision ?? 'none', [event])).position
  })

export const eventsOf = (scene: Scene, stream: string) => withLog(scene, (log) => Array.fromAsync(log.read(stream)))
export const headOf = (scene: Scene) => withLog(scene, (log) => log.head())
/** The types of the events after a position of the log. */
export const addedSince = (scene: Scene, position: bigint) => withLog(scene, (log) => typesSince(log, position))
export const sql = ({ database }: Scene, text: string) => onServer(database.url, text)

const forbid = (scene: Scene, trace: string) =>
  sql(scene, `alter table ${schema}.messages add constraint no_${trace} check (external_id <> 'cat of ${trace}')`)
export const allow = (scene: Scene, trace: string) =>
  sql(scene, `alter table ${schema}.messages drop constraint no_${trace}`)

export const isInQuarantine = async (scene: Scene, trace: string) => (await call(scene, 'GET', trace)).status === 503

/** Writes two messages, of which a constraint refuses the second, and then another title, which is skipped with the stream. */
export const poison = async (scene: Scene, trace: string): Promise<string> => {
  assert.is((await call(scene, 'PUT', trace, { title: 'Bad', visibility: 'public' })).status, 200)
  const put = (name: string, textContent: string) =>
    call(scene, 'PUT', `${trace}/messages/${name}`, { role: 'user', textContent })
  await put('dog', 'one')
  await forbid(scene, trace)
  await put(`cat of ${trace}`, 'two')
  await until(() => isInQuarantine(scene, trace))
  const stream = streamOf(scene, trace)
  await append(scene, stream, 'TraceUpdated', { patch: [{ op: 'replace', path: '/title', value: 'Later' }] })
  return stream
}

type Listed = { readonly stream: string; readonly position: string; readonly type: string; readonly reason: string }

export const listed = async ({ database }: Scene): Promise<Listed[]> =>
  (await onServer(database.url, `select stream, position::text, type, reason from ${schema}.quarantine order by at`))
    .rows as Listed[]

export const positionOf = async (scene: Scene, stream: string): Promise<string> =>
  (await listed(scene)).find((one) => one.stream === stream)!.position
