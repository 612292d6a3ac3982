import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openDatabase } from '../../../src/client/agents/support/sqlite/load.ts'
import { STATE_FILE } from '../../../src/client/state/state-file.ts'
import { eventStoreUrlOf } from '../../support/log-place.ts'
import type { Machine } from '../support/machine.ts'
import { type RealService, startRealService } from '../support/real-service.ts'
import { userLine, writeSession } from '../support/session-file.ts'
import { storedOf } from '../support/stored.ts'

type Context = { service: RealService; machine: Machine }
const test = suite<Context>('a service that was restored from a backup')
test.before.each(async (context) => {
  const service = await startRealService()
  Object.assign(context, { service, machine: await service.logIn() })
})
test.after.each(({ service }) => service.close())

// A backup of the database is none of a log that is in EventStoreDB.
const inPostgres = eventStoreUrlOf('any') ? test.skip : test

const line = (id: string, index: number) => userLine(`u-${index}`, `prompt ${index}`, { sessionId: id })
const write = ({ sessions }: Machine, id: string, count: number) =>
  writeSession(
    sessions,
    `${id}.jsonl`,
    Array.from({ length: count }, (_, index) => line(id, index)),
  )
const idsOf = async (machine: Machine, id: string) => (await storedOf(machine, id)).map(({ externalId }) => externalId)
const grow = (file: string, id: string, index: number) => appendFileSync(file, `${line(id, index)}\n`)

/** One session from before the backup that has grown since, and one that is newer. Others have written since, too. */
const loseSome = async ({ service, machine }: Context) => {
  const grown = write(machine, 's-1', 3)
  await machine.sync()
  await service.backUp()
  for (const index of [3, 4, 5]) grow(grown, 's-1', index)
  write(machine, 's-2', 2)
  await machine.sync()
  await service.restore()
  const other = await service.logIn()
  write(other, 's-3', 40)
  await other.sync()
  return { grown }
}

inPostgres(
  'after a restore, a sync uploads again what the service lacks, and reports nothing as deleted',
  async (context) => {
    const { machine } = context
    await loseSome(context)
    const { summary, events } = await machine.sync()
    assert.equal([summary.synced, summary.new, summary.deleted, summary.exitCode], [2, 5, 0, 0])
    assert.match(JSON.stringify(events.filter(({ type }) => type === 'connection')), /was restored from a backup/)
    assert.not.match(JSON.stringify(events), /deleted on the service/)
    assert.equal(await idsOf(machine, 's-1'), ['u-0', 'u-1', 'u-2', 'u-3', 'u-4', 'u-5'])
    assert.equal(await idsOf(machine, 's-2'), ['u-0', 'u-1'])
    const again = await machine.sync()
    assert.equal([again.summary.unchanged, again.events.some(({ type }) => type === 'connection')], [2, false])
  },
)

/** A client that does not know of its last write, as one of before. */
const forgetLastWrite = ({ config }: Machine) => {
  const database = openDatabase(join(config, 'data', STATE_FILE))
  database.exec('DELETE FROM last_write')
  database.close()
}

inPostgres(
  'a session that has grown is complete after a restore, even if the client did not record its last write',
  async (context) => {
    const { machine } = context
    const { grown } = await loseSome(context)
    forgetLastWrite(machine)
    grow(grown, 's-1', 6)
    const { summary, events } = await machine.sync()
    assert.is(summary.exitCode, 0)
    assert.match(
      JSON.stringify(events),
      /the service had lost messages of this session: the whole session was sent again/,
    )
    assert.equal(await idsOf(machine, 's-1'), ['u-0', 'u-1', 'u-2', 'u-3', 'u-4', 'u-5', 'u-6'])
  },
)

inPostgres(
  'a trace that is missing after a restore is created again when the visibility of its session is asked for',
  async (context) => {
    const { machine } = context
    await loseSome(context)
    forgetLastWrite(machine)
    const { summary } = await machine.sync({ visibility: 'direct' })
    assert.equal([summary.deleted, summary.failed], [0, 0])
    assert.equal(await idsOf(machine, 's-2'), ['u-0', 'u-1'])
  },
)

test.run()
