import { appendFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newApiClient } from '../../../src/client/api/client.ts'
import { download } from '../../../src/client/transfer/download.ts'
import { openExportFile } from '../../../src/client/transfer/export-file.ts'
import { importTrace } from '../../../src/client/transfer/import-trace.ts'
import { writeWhole } from '../../../src/client/transfer/output-file.ts'
import { openDuties } from '../../../src/client/state/duties.ts'
import { connect } from '../../../src/client/login/connect.ts'
import { noStates } from '../../../src/client/state/session-states.ts'
import { STATE_FILE, StateFailed } from '../../../src/client/state/state-file.ts'
import { always } from '../../../src/client/upload/destination.ts'
import { syncSessions } from '../../../src/client/upload/sync-sessions.ts'
import type { SyncEvent } from '../../../src/client/report/events.ts'
import { type ClientWorld, newWorld } from '../support/client-world.ts'
import type { Machine } from '../support/machine.ts'
import { type RealService, startRealService } from '../support/real-service.ts'
import type { Fault } from '../support/server.ts'
import { refusal } from '../support/service-world.ts'
import { answerLine, line, text, userLine, writeSession } from '../support/session-file.ts'
import { storedOf, tokenOf } from '../support/stored.ts'

const KEY = 'q7Zr4TnW2kXvB9mLpC3sJd8F'
const bare = userLine('u-1', `it is ${KEY}`)
const telling = userLine('u-2', `API_KEY=${KEY}`)

const test = suite<{ world: ClientWorld }>('an erasure that a client owes')
test.before.each(async (context) => void (context.world = await newWorld()))
test.after.each(({ world }) => world.close())

const erased = ({ server }: ClientWorld) => server.writes().filter((write) => write.endsWith('/history/erase')).length
const duties = ({ config }: Pick<Machine, 'config'>) => {
  const all = readdirSync(config, { recursive: true, encoding: 'utf8' })
  return all.filter((name) => name.startsWith(join('duties', '/')))
}
const problems = (events: readonly SyncEvent[]) =>
  events.flatMap((event) => (event.type === 'problem' ? [event.kind] : []))

/** A session whose secret was sent before it was known; from now on the requests that `isMeant` says meet a fault. */
const expose = async (world: ClientWorld, isMeant: (path: string) => boolean, fault: Fault) => {
  const file = writeSession(world.sessions, 's-1.jsonl', [bare])
  await world.sync()
  appendFileSync(file, `${telling}\n`)
  world.server.fault = ({ path }) => (isMeant(path) ? fault : undefined)
  world.server.requests.length = 0
  return file
}
const isErasure = (path: string) => path.split('?')[0]!.endsWith('/history/erase')
const isBatch = (path: string) => path.endsWith('/batch')

test('is tried again by each run until the service has answered it, also if no session has changed', async ({
  world,
}) => {
  await expose(world, isErasure, refusal(503))
  for (let i = 0; i < 2; i++) {
    const { summary, events } = await world.sync()
    assert.equal([summary.exposed, summary.exitCode, problems(events)], [1, 1, ['secret_in_history']])
    assert.is(duties(world).length, 1)
  }
  world.server.fault = () => undefined
  world.server.requests.length = 0
  const { summary, events } = await world.sync()
  assert.equal([summary.unchanged, summary.exposed, summary.exitCode, erased(world)], [1, 0, 0, 1])
  assert.match(
    JSON.stringify(events),
    'had been sent before it was known to be one: the past of the trace, which had it, was erased',
  )
  assert.not.match(JSON.stringify(events), KEY)
  assert.equal(duties(world), [])
  assert.equal(await world.writesOf(), [])
})

test('is noted before anything is sent that it follows from', async ({ world }) => {
  await expose(world, isBatch, 'cut before')
  let owedAtBatch = 0
  const { fault } = world.server
  world.server.fault = (asked) => {
    if (isBatch(asked.path)) owedAtBatch = duties(world).length
    return fault(asked)
  }
  await world.sync()
  assert.is(owedAtBatch, 1)
})

test('does not keep others from being uploaded', async ({ world }) => {
  await expose(world, isErasure, refusal(503))
  writeSession(world.sessions, 's-2.jsonl', [userLine('u-9', 'hello', { sessionId: 's-2' })])
  const { summary } = await world.sync()
  assert.equal([summary.synced, summary.failed], [2, 0])
  assert.is(world.server.traces.find(({ externalId }) => externalId === 's-2')?.messages.size, 1)
})

/** Ways in which the record of what was sent gets lost. */
const losses: Readonly<Record<string, (world: ClientWorld) => void>> = {
  'is deleted': ({ config }) => rmSync(join(config, 'data'), { recursive: true }),
  'is damaged': ({ config }) => writeFileSync(join(config, 'data', STATE_FILE), 'x'.repeat(8_192)),
  'is of another log': ({ server }) => void (server.logId = 'another'),
}
const steps: Readonly<Record<string, readonly [(path: string) => boolean, Fault]>> = {
  'before the message without the secret has arrived': [isBatch, 'cut before'],
  'before the answer to that message has arrived': [isBatch, 'cut after'],
  'before the past was erased': [isErasure, 'cut before'],
  'before the answer to the erasure has arrived': [isErasure, 'cut after'],
}

for (const [how, lose] of Object.entries(losses))
  for (const [when, [isMeant, fault]] of Object.entries(steps))
    test(`is done if the record of what was sent ${how} ${when}`, async ({ world }) => {
      await expose(world, isMeant, fault)
      await world.sync()
      lose(world)
      world.server.fault = () => undefined
      world.server.requests.length = 0
      for (const force of [false, true]) {
        const { summary } = await world.sync({ force })
        assert.equal([summary.failed, summary.exposed], [0, 0])
      }
      assert.not.match(JSON.stringify([...world.server.traces[0]!.messages.values()]), KEY)
      assert.ok(erased(world) > 0)
      assert.equal(duties(world), [])
    })

test('is not owed any more for a trace that was deleted', async ({ world }) => {
  await expose(world, isErasure, refusal(503))
  await world.sync()
  world.server.traces.length = 0
  world.server.fault = () => undefined
  await world.sync()
  assert.equal(duties(world), [])
})

/** A user who owes an erasure in the namespace of a team. */
const oweInTeam = async (world: ClientWorld) => {
  world.server.addNamespace('team', { [world.user.userId]: 'admin' })
  writeSession(world.sessions, 's-1.jsonl', [bare])
  await world.sync({ slug: 'team' })
  writeSession(world.sessions, 's-1.jsonl', [bare, telling])
  world.server.fault = ({ path }) => (isErasure(path) ? refusal(503) : undefined)
  await world.sync({ slug: 'team' })
  world.server.fault = () => undefined
  rmSync(join(world.sessions, 's-1.jsonl'))
  return world.server.namespaces.find(({ slug }) => slug === 'team')!.roles
}

/** Ways to lose the right to erase there. */
const rights: Readonly<Record<string, (world: ClientWorld, roles: Map<string, 'admin' | 'member'>) => void>> = {
  'has left the namespace': (_world, roles) => roles.clear(),
  'may not erase there': ({ server }) => {
    server.fault = ({ path }) => (isErasure(path) ? refusal(403) : undefined)
  },
}

for (const [how, lose] of Object.entries(rights))
  test(`stays owed if the user ${how}, which is said once, and done once the user may again`, async ({ world }) => {
    const roles = await oweInTeam(world)
    lose(world, roles)
    const first = await world.sync()
    assert.equal([first.summary.exposed, first.summary.exitCode, problems(first.events)], [1, 1, ['secret_in_history']])
    assert.match(JSON.stringify(first.events), 'rm --history --namespace team s-1')
    for (let i = 0; i < 2; i++) {
      const { summary, events } = await world.sync()
      assert.equal([summary.exposed, summary.exitCode, problems(events), duties(world).length], [0, 0, [], 1])
    }
    roles.set(world.user.userId, 'admin')
    world.server.fault = () => undefined
    const { summary, events } = await world.sync()
    assert.equal([summary.exposed, summary.exitCode, duties(world)], [0, 0, []])
    assert.match(JSON.stringify(events), 'was erased')
  })

test('is reported again if another failure follows on a refusal, or another secret', async ({ world }) => {
  const roles = await oweInTeam(world)
  roles.clear()
  await world.sync()
  world.server.fault = ({ path }) => (isErasure(path) ? refusal(500) : undefined)
  assert.is((await world.sync()).summary.exposed, 1)
  world.server.fault = () => undefined
  const owed = openDuties(world.config, world.server.url)
  const { source } = (await owed.all())[0]!
  await owed.add({ namespace: 'team', externalId: 's-1', source, hashes: ['another'] })
  assert.is((await world.sync()).summary.exposed, 1)
  assert.is((await world.sync()).summary.exposed, 0)
})

test('stays owed if a service that has the trace does not know how to erase its past', async ({ world }) => {
  await expose(world, isErasure, refusal(404))
  for (let i = 0; i < 2; i++) {
    const { summary, events } = await world.sync()
    assert.equal([summary.exposed, problems(events)], [1, ['secret_in_history']])
    assert.match(JSON.stringify(events), 'does not know how to erase')
  }
  assert.is(duties(world).length, 1)
})

test('stays owed, and stops the run, if nothing can be stored', async ({ world: { config, user, server } }) => {
  const owed = openDuties(config, server.url)
  await owed.add({ namespace: user.namespaceSlug, externalId: 's-1', source: 'a file', hashes: [] })
  const asUploader = () => Promise.reject(new StateFailed('the file', new Error('no space is left')))
  const connection = await connect({ config, server: server.url, readOnly: true }, newApiClient)
  const destination = { connection, states: noStates(owed) }
  const origins = {
    originOf: () => undefined,
    noteOrigin: () => {},
    newLosses: () => [],
    noteReported: () => {},
  }
  const job = { destinationOf: always(destination), place: destination, origins, asUploader, redaction: undefined }
  const { stopReason } = await syncSessions({ ...job, dryRun: false, force: false, report: () => {} }, [])
  assert.instance(stopReason?.stateFailed, StateFailed)
  assert.is((await owed.all()).length, 1)
})

test.run()

const real = suite<{ service: RealService }>('whoever takes a secret out of a trace erases its past')
real.before(async (context) => void (context.service = await startRealService()))
real.after(({ service }) => service.close())

let sessions = 0
const write = ({ sessions: folder }: Machine, id: string, lines: readonly string[]) =>
  writeSession(
    folder,
    `${id}.jsonl`,
    lines.map((one) => one.replace('"s-1"', `"${id}"`)),
  )
const history = async (machine: Machine, id: string): Promise<string> => {
  const token = await tokenOf(machine)
  const found = await fetch(`${machine.url}/v1/traces/${id}/events`, { headers: { authorization: `Bearer ${token}` } })
  const { data } = (await found.json()) as { data: { events: readonly { type: string }[] } }
  return data.events.map(({ type }) => type).join(' ')
}
const isErased = async (machine: Machine, id: string) => /HistoryErased/.test(await history(machine, id))

/** A machine that has sent a secret, because it did not know it, and another one of the same user. */
const twoMachines = async (service: RealService, lines: readonly string[]) => {
  const [first, id] = [await service.logIn(), `r-${++sessions}`]
  write(first, id, lines)
  await first.sync({ redacting: () => undefined })
  return { first, second: service.another(first), id }
}

for (const force of [false, true])
  real(`a second machine that knows it as a secret${force ? ', with --force' : ''}`, async ({ service }) => {
    const { first, second, id } = await twoMachines(service, [bare])
    write(second, id, [bare, telling])
    const { summary, events } = await second.sync({ force })
    assert.equal([summary.failed, summary.exposed, summary.exitCode], [0, 0, 0])
    assert.match(JSON.stringify(events), 'had been sent before it was known to be one')
    assert.not.match(JSON.stringify(await storedOf(first, id)), KEY)
    assert.ok(await isErased(first, id))
  })

real('a machine whose record of what it sent is lost', async ({ service }) => {
  const { first, id } = await twoMachines(service, [bare])
  write(first, id, [bare, telling])
  rmSync(join(first.config, 'data'), { recursive: true })
  await first.sync()
  assert.ok(await isErased(first, id))
})

real('a second machine with an older copy, which keeps what the other one has more of', async ({ service }) => {
  const answer = (id: string, words: string) => answerLine(id, 'm-1', [text(words)])
  const { first, second, id } = await twoMachines(service, [
    bare,
    telling,
    answer('a-1', `with ${KEY}`),
    answer('a-2', 'the end'),
  ])
  write(second, id, [bare, telling, answer('a-1', `with ${KEY}`)])
  assert.is((await second.sync()).summary.failed, 0)
  const [, , kept] = await storedOf(first, id)
  assert.is(kept!.parts!.length, 2)
  assert.not.match(JSON.stringify(await storedOf(first, id)), KEY)
  assert.ok(await isErased(first, id))
})

real('and a machine that does not know it does not bring it back', async ({ service }) => {
  const answer = (id: string, words: string) => answerLine(id, 'm-1', [text(words)])
  const { first, second, id } = await twoMachines(service, [answer('a-1', `API_KEY=${KEY} here`)])
  write(second, id, [answer('a-1', `API_KEY=${KEY} here`)])
  await second.sync()
  write(first, id, [answer('a-1', `API_KEY=${KEY} here`), answer('a-2', 'the end')])
  await first.sync({ redacting: () => undefined })
  const [kept] = await storedOf(first, id)
  assert.is(kept!.parts!.length, 2)
  assert.not.match(JSON.stringify(kept), KEY)
})

real('a title is taken out too', async ({ service }) => {
  const titled = line({ type: 'custom-title', customTitle: `Use ${KEY}` })
  const { first, second, id } = await twoMachines(service, [userLine('u-1', 'hello'), titled])
  write(second, id, [userLine('u-1', 'hello'), titled, telling])
  await second.sync()
  assert.ok(await isErased(first, id))
})

real('an import of a trace without it', async ({ service }) => {
  const { first, id } = await twoMachines(service, [bare])
  const { token, ...connection } = await connect(
    { config: first.config, server: first.url, readOnly: true },
    newApiClient,
  )
  const file = join(first.home, `${id}.json`)
  await writeWhole(file, download({ server: first.url, path: `/v1/traces/${id}/export?format=json`, token }))
  const redacted = join(first.home, `${id}.redacted.json`)
  const pieces = (await import('node:fs')).readFileSync(file, 'utf8').replaceAll(KEY, '[redacted:secret-value]')
  writeFileSync(redacted, pieces)
  const owed = openDuties(first.config, first.url)
  const wanted = {
    connection: { token, ...connection },
    file: redacted,
    visibility: undefined,
    duties: owed,
    report: () => {},
  }
  const { updated, exposed } = await importTrace(await openExportFile(redacted), wanted)
  assert.equal([updated, exposed], [1, 0])
  assert.ok(await isErased(first, id))
  assert.equal(await owed.all(), [])
})

real.run()
