import { rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { runs } from '../../support/runs.ts'
import type { Machine } from '../support/machine.ts'
import { type RealService, startRealService } from '../support/real-service.ts'
import { line, userLine, writeSession } from '../support/session-file.ts'
import { tokenOf } from '../support/stored.ts'

const test = suite<{ service: RealService }>('titles that people give')
test.before(async (context) => void (context.service = await startRealService()))
test.after(({ service }) => service.close())
test.after.each(({ service }) => void (service.gate.pass = async () => {}))

let sessions = 0
const newId = () => `s-${++sessions}`

/** A session on a machine, by the title that the agent has given it last. */
const titled = ({ sessions: folder }: Machine, id: string, title: string, prompts = 1) =>
  writeSession(folder, `${id}.jsonl`, [
    ...Array.from({ length: prompts }, (_, i) => userLine(`u-${i}`, `prompt ${i}`, { sessionId: id })),
    line({ type: 'custom-title', customTitle: title, sessionId: id }),
  ])

const of = async (service: RealService, machine: Machine, id: string) => {
  const token = await tokenOf(machine)
  const url = `/v1/traces/${id}`
  return {
    rename: (title: string) => service.call('PATCH', url, { token, body: { title } }),
    title: async () => {
      const { data } = await service.call('GET', url, { token })
      return (data as { trace: { title?: string } }).trace.title
    },
  }
}

const loseRecord = ({ config }: Machine) => rmSync(join(config, 'data'), { recursive: true })

test('a title that was changed at the service stays, whatever the session is called later, also after the record is lost, and with --force', async ({
  service,
}) => {
  const [machine, id] = [await service.logIn(), newId()]
  titled(machine, id, 'By the agent')
  await machine.sync()
  const trace = await of(service, machine, id)
  await trace.rename('By a person')
  titled(machine, id, 'By the agent again', 2)
  await machine.sync()
  titled(machine, id, 'And again', 3)
  loseRecord(machine)
  await machine.sync()
  titled(machine, id, 'Once more', 4)
  await machine.sync({ force: true })
  titled(machine, id, 'The last one', 5)
  await machine.sync()
  assert.is(await trace.title(), 'By a person')
})

test('a title that nobody has changed follows the session, also after the record is lost', async ({ service }) => {
  const [machine, id] = [await service.logIn(), newId()]
  const trace = await of(service, machine, id)
  for (const [i, title] of ['The first', 'The second', 'The third'].entries()) {
    titled(machine, id, title, i + 1)
    await machine.sync({ force: i === 2 })
    assert.is(await trace.title(), title)
  }
  loseRecord(machine)
  await machine.sync()
  titled(machine, id, 'The fourth', 4)
  await machine.sync()
  assert.is(await trace.title(), 'The fourth')
})

test('where only the title is another one, such as with a newer parser, the trace is read and written once', async ({
  service,
}) => {
  const [machine, id] = [await service.logIn(), newId()]
  titled(machine, id, 'Mend the…')
  await machine.sync()
  titled(machine, id, 'Mend the parser')
  service.requests.length = 0
  await machine.sync()
  const asked = service.requests.filter(({ url }) => url.startsWith('/v1/traces'))
  assert.equal(
    asked.map(({ method, url }) => `${method} ${url.split('?')[0]}`),
    [`GET /v1/traces/${id}`, `PATCH /v1/traces/${id}`],
  )
  assert.is(await (await of(service, machine, id)).title(), 'Mend the parser')
})

test('a title that was given back follows the session again', async ({ service }) => {
  const [machine, id] = [await service.logIn(), newId()]
  titled(machine, id, 'By the agent')
  await machine.sync()
  const trace = await of(service, machine, id)
  await trace.rename('By a person')
  titled(machine, id, 'Better', 2)
  await machine.sync()
  await trace.rename('By the agent')
  titled(machine, id, 'Better still', 3)
  await machine.sync()
  assert.is(await trace.title(), 'Better still')
})

test('a title that is given while the session is sent stays', async ({ service }) => {
  for (const path of ['before it is read', 'before it is written'] as const) {
    const [machine, id] = [await service.logIn(), newId()]
    titled(machine, id, 'By the agent')
    await machine.sync()
    const trace = await of(service, machine, id)
    titled(machine, id, 'By the agent again', 2)
    let isDone = false
    service.gate.pass = async ({ method, url }) => {
      if (isDone || url.split('?')[0] !== `/v1/traces/${id}`) return
      if (path === 'before it is written' && method !== 'PATCH') return
      isDone = true
      await trace.rename('By a person')
    }
    const { summary } = await machine.sync()
    assert.equal([isDone, summary.failed, await trace.title()], [true, 0, 'By a person'], path)
  }
})

test('text of any kind is known again as the title that was sent', async ({ service }) => {
  const machine = await service.logIn()
  for (const title of [
    'a\0b',
    'half \ud83d of it',
    'עברית (1) ‮abc',
    '👩‍👩‍👧‍👦'.repeat(400),
    '<b>&amp;</b>',
    'x'.repeat(10_000),
  ]) {
    const id = newId()
    titled(machine, id, title)
    await machine.sync()
    titled(machine, id, 'Another one', 2)
    await machine.sync()
    assert.is(await (await of(service, machine, id)).title(), 'Another one', JSON.stringify(title.slice(0, 20)))
  }
})

test('whatever two machines and people do, sync replaces no title but the one that it has sent last, or has found to be its own', async ({
  service,
}) => {
  const first = await service.logIn()
  const machines = [first, service.another(first)]
  const step = fc.oneof(
    fc.record({ is: fc.constant('renamed' as const) }),
    fc.record({ is: fc.constant('lost' as const), on: fc.nat(1) }),
    fc.record({ is: fc.constant('synced' as const), on: fc.nat(1), titled: fc.boolean(), force: fc.boolean() }),
  )
  const law = fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
    const id = newId()
    const trace = await of(service, first, id)
    /** The title that each machine has, and the one of the service that it may replace. */
    const [here, own]: [string[], (string | undefined)[]] = [
      ['first', 'first'],
      [undefined, undefined],
    ]
    let [expected, prompts] = [undefined as string | undefined, 1]
    for (const [i, one] of steps.entries()) {
      prompts++
      if (one.is === 'renamed' && expected !== undefined) await trace.rename((expected = `by a person ${i}`))
      if (one.is === 'lost' && own[one.on] !== undefined) own[one.on] = void loseRecord(machines[one.on]!)
      if (one.is !== 'synced') continue
      const { on, force } = one
      const machine = machines[on]!
      if (one.titled) here[on] = `by the agent ${i}`
      titled(machine, id, here[on]!, prompts)
      await machine.sync({ force })
      if (expected === undefined || expected === own[on]) expected = here[on]
      if (expected === here[on]) own[on] = expected
      assert.is(await trace.title(), expected, JSON.stringify(steps.slice(0, i + 1)))
    }
  })
  await fc.assert(law, { numRuns: runs(15) })
})

test('a session that had only a command is called by its first prompt once it has one', async ({ service }) => {
  const [machine, id] = [await service.logIn(), newId()]
  const trace = await of(service, machine, id)
  const command = userLine(
    'u-0',
    '<command-message>init</command-message>\n<command-name>/init</command-name>\n<command-args></command-args>',
    { sessionId: id },
  )
  const later = [
    userLine('u-1', '<command-name>/model</command-name>\n<command-message>model</command-message>', { sessionId: id }),
    userLine('u-2', 'Mend the parser', { sessionId: id }),
  ]
  writeSession(machine.sessions, `${id}.jsonl`, [command])
  await machine.sync()
  assert.is(await trace.title(), '/init')
  writeSession(machine.sessions, `${id}.jsonl`, [command, ...later])
  await machine.sync()
  assert.is(await trace.title(), 'Mend the parser')
})

test.run()
