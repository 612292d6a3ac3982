import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newId } from '../../../src/base/ids.ts'
import type { EventLog } from '../../../src/eventstore/log/log.ts'
import { wholeAppends } from '../../../src/eventstore/log/whole-appends.ts'
import { openCheckpoint, signCheckpoint } from '../../../src/server/proof/checkpoint.ts'
import { generateSigner, parseVerifier } from '../../../src/server/proof/note.ts'
import { type Signed, startTreeProcess } from '../../../src/server/proof/process.ts'
import { anAppend, numbered } from '../../eventstore/log/support/events.ts'
import { openBareLog } from '../../support/bare-log.ts'
import { type Database, onServer } from '../../support/database.ts'
import type { App } from '../../support/open-app.ts'
import { type EmptyWorld, newEmptyWorld, signIn } from '../../support/world.ts'
import { outage, silent } from '../../support/silent.ts'
import { until } from '../../support/until.ts'
import {
  assertLeavesOf,
  audited,
  checkpointOf,
  leavesIn,
  signer,
  untilCovered,
  untilSigned,
  writeTrace,
} from './support.ts'

const test = suite<EmptyWorld & { ends: (() => Promise<unknown>)[] }>('proof/process')
test.before.each(async (scene) => {
  Object.assign(scene, await newEmptyWorld({ env: audited }))
  scene.ends = []
})
test.after.each(async ({ close, ends }) => {
  for (const end of ends.reverse()) await end()
  await close()
})

const start = ({ url }: Database, log: EventLog) =>
  startTreeProcess({ url, log, signer, now: Date.now, logger: silent, outage })

const openLog = ({ url }: Database, maxAppendBytes?: number) =>
  wholeAppends(openBareLog(url, maxAppendBytes ? { maxAppendBytes } : {}))

test('every event gets a leaf, in the order of the log, and the checkpoint covers them', async ({
  database,
  openNode,
}) => {
  const app = await openNode()
  const { token } = await signIn(app)
  await writeTrace(app, token, 'a', 600)
  await writeTrace(app, token, 'b', 3)
  const head = await untilSigned(app, token, database)
  assert.ok(head.size > 603)
  const { leaves, events } = await untilCovered(database, app.service.log)
  assertLeavesOf(leaves, events)
})

test('a log that existed before is covered from the first start, except for erased events', async ({
  database,
  ends,
}) => {
  const log = openLog(database)
  ends.push(log.close)
  for (let i = 0; i < 30; i++) await log.append(`thing-${newId()}`, 'none', numbered(40))
  const erased = `thing-${newId()}`
  await log.append(erased, 'none', numbered(10))
  await log.truncate(erased, 9n)
  const proof = start(database, log)
  ends.push(proof.close)
  const { leaves, events } = await untilCovered(database, log)
  assert.is(leaves.length, 1_201)
  assertLeavesOf(leaves, events)
})

test('segments of a split append count as whole events, wherever the process begins', async ({ database, ends }) => {
  const log = openLog(database, 300)
  ends.push(log.close)
  const big = (letter: string) => JSON.stringify(letter.repeat(900))
  let proof = start(database, log)
  const closeProof = () => proof.close()
  ends.push(closeProof)
  for (let i = 0; i < 12; i++) {
    await Promise.all([
      log.append(`big-${newId()}`, 'none', anAppend(big('a'), '1', big('b'))),
      log.append(`many-${newId()}`, 'none', numbered(70)),
      log.append(`small-${newId()}`, 'none', numbered(1)),
    ])
    if (i % 4 !== 3) continue
    await proof.close()
    proof = start(database, log)
  }
  const { leaves, events } = await untilCovered(database, log)
  assert.is(leaves.length, 12 * 74)
  assertLeavesOf(leaves, events)
})

test('one process at a time writes leaves, and another takes over', async ({ database, ends }) => {
  const log = openLog(database)
  ends.push(log.close)
  const [one, other] = [start(database, log), start(database, log)]
  ends.push(other.close)
  await log.append(`thing-${newId()}`, 'none', numbered(300))
  await untilCovered(database, log)
  assert.equal([one.leaves(), other.leaves()].sort(), [0, 300])
  await Promise.all([one.close(), log.append(`thing-${newId()}`, 'none', numbered(300))])
  await until(() => other.leaves() === 600)
  const { leaves, events } = await untilCovered(database, log)
  assertLeavesOf(leaves, events)
})

test('nothing is erased before it has its leaf, and leaves outlive their events', async ({
  database,
  openNode,
  ends,
}) => {
  const holder = new pg.Client({ connectionString: database.url })
  await holder.connect()
  await holder.query(`select pg_advisory_lock(hashtext('tracebook proof'))`)
  ends.push(() => holder.end())
  const app = await openNode()
  const { token } = await signIn(app)
  const id = await writeTrace(app, token, 't', 20, 'secret')
  await app.call('DELETE', '/v1/traces/t', { token })
  const other = await writeTrace(app, token, 'other', 1)
  const pending = async () => (await onServer(database.url, 'select stream from tracebook.erasures')).rows
  await until(async () => (await pending()).length === 1)
  // Erasure asks for leaves again and again, once nothing else holds it up.
  const asks = `select from pg_stat_activity where datname = current_database() and query like '%processes%name = ''proof''%'
    and application_name = 'tracebook erasure'`
  await until(async () => (await onServer(database.url, asks)).rows.length > 0)
  const ofTrace = async (id: string) => (await Array.fromAsync(app.service.log.read(`trace-${id}`))).length
  assert.ok((await ofTrace(id)) > 20)
  await holder.query('select pg_advisory_unlock_all()')
  await until(async () => (await ofTrace(id)) === 1 && (await pending()).length === 0)
  assert.ok((await ofTrace(other)) > 1)
  const { leaves, events } = await untilCovered(database, app.service.log)
  assert.ok(leaves.length >= events.length + 20)
  await untilSigned(app, token, database)
  const kept = new Map(leaves.map(({ id, index }) => [id, index]))
  const order = events.map(({ id }) => kept.get(id)!)
  assert.equal(
    order,
    [...order].sort((a, b) => a - b),
  )
})

test('a key can be replaced: the history names both, and signatures of the old one stay valid', async ({
  database,
  openNode,
}) => {
  const first = await openNode()
  const { token } = await signIn(first)
  await untilSigned(first, token, database)
  const old = await checkpointOf(first, token)
  await first.close()

  const next = generateSigner(signer.name)
  const second = await openNode({ env: { AUDIT_KEY: next.text } })
  await until(async () => (await keysOf(second, token)).key === next.verifier.text)
  await writeTrace(second, token, 't', 5)
  await untilSigned(second, token, database)
  const { keys } = await keysOf(second, token)
  assert.equal(
    keys.map(({ key }) => key),
    [next.verifier.text, signer.verifier.text],
  )
  assert.is(keys[1]!.to, old.size)
  assert.ok(keys[0]!.from >= old.size)
  assert.is(openCheckpoint(old.note, parseVerifier(keys[1]!.key)).size, old.size)
})

type Keys = { origin: string; key: string; keys: { key: string; from: number; to: number }[] }
const keysOf = async ({ call }: App, token: string): Promise<Keys> =>
  (await call('GET', '/v1/audit/key', { token })).data as Keys

test('without a key nothing is signed or served, which is logged at the start, and leaves are written all the same', async ({
  database,
  openNode,
}) => {
  const first = await openNode()
  const { token } = await signIn(first)
  await untilSigned(first, token, database)
  await first.close()

  const lines: string[] = []
  const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
  const app = await openNode({ env: { AUDIT_KEY: '' }, logger })
  assert.match(lines.join(''), 'AUDIT_KEY')
  for (const url of ['checkpoint', 'key', 'tile/0/000.p/1', 'consistency?from=1&to=1'])
    assert.is((await app.call('GET', `/v1/audit/${url}`, { token })).status, 404, url)
  await writeTrace(app, token, 't', 5)
  const { leaves, events } = await untilCovered(database, app.service.log)
  assertLeavesOf(leaves, events)
  await until(
    async () => (await onServer(database.url, 'select from tracebook.audit_keys where retired')).rows.length === 1,
  )
})

const selectLeader = `
  select l.pid from pg_locks l join pg_database d on d.oid = l.database
  where l.locktype = 'advisory' and l.granted and d.datname = current_database()
    and (l.classid::int8 << 32 | l.objid::int8) = hashtext('tracebook proof')::int8`

const others = {
  'a checkpoint of another key is inserted': async (database: Database) => {
    const other = generateSigner(signer.name)
    const { rows } = await onServer(database.url, 'select size, root from tracebook.audit_keys')
    const head = { size: Number(rows[0]!.size), root: rows[0]!.root as Buffer }
    await onServer(
      database.url,
      `insert into tracebook.audit_keys (number, key, from_size, size, root, note, signed_at) values (2, $1, $2, $2, $3, $4, 0)`,
      [other.verifier.text, head.size, head.root, signCheckpoint(head, other)],
    )
  },
  'a checkpoint of an older key is inserted': (database: Database) =>
    onServer(
      database.url,
      `insert into tracebook.audit_keys select 0, key, from_size, size, root, note, signed_at from tracebook.audit_keys`,
    ),
  'the checkpoint is removed': (database: Database) => onServer(database.url, 'delete from tracebook.audit_keys'),
  'the checkpoint is said to be larger': (database: Database) =>
    onServer(database.url, 'update tracebook.audit_keys set size = size + 1000'),
}

for (const [name, change] of Object.entries(others))
  test(`nothing is served or signed any more once ${name} while the service runs`, async ({ database, openNode }) => {
    const app = await openNode()
    const { token } = await signIn(app)
    await untilSigned(app, token, database)
    await change(database)
    const served = () => app.app.inject({ url: '/v1/audit/checkpoint', headers: { authorization: `Bearer ${token}` } })
    await until(async () => (await served()).statusCode === 404)
    assert.match((await app.app.inject('/metrics')).body, /^tracebook_audit_refused 1$/m)
    await writeTrace(app, token, 't', 5)
    assert.is((await app.call('GET', '/v1/audit/key', { token })).status, 404)
  })

test('leaves that another process has written are refused by the next one, which goes on leading', async ({
  database,
  ends,
}) => {
  const log = openLog(database)
  ends.push(log.close)
  const [one, other] = [start(database, log), start(database, log)]
  ends.push(one.close, other.close)
  await log.append(`thing-${newId()}`, 'none', numbered(3))
  await until(async () => (await onServer(database.url, 'select from tracebook.audit_keys where size = 3')).rows.length)
  const leader = async () => (await onServer(database.url, selectLeader)).rows
  const leading = await leader()
  assert.is(leading.length, 1)
  await onServer(database.url, 'delete from tracebook.audit_keys')
  await until(() => one.isRefused() || other.isRefused())
  assert.equal(await leader(), leading)
})

test('what a node has signed before it was opened again, the tree must lead to', async ({ database, ends }) => {
  const log = openLog(database)
  ends.push(log.close)
  const signed: Signed = {}
  const startWith = (signed: Signed) =>
    startTreeProcess({ url: database.url, log, signer, signed, now: Date.now, logger: silent, outage })
  const first = startWith(signed)
  await log.append(`thing-${newId()}`, 'none', numbered(3))
  await until(() => signed.published?.size === 3)
  await first.close()
  await onServer(database.url, 'delete from tracebook.audit_keys') // as in a database that was put back
  const again = startWith({ published: { size: 3, root: randomBytes(32) } })
  ends.push(again.close)
  await until(() => again.isRefused())
})

const damages = {
  'a leaf is missing at the end':
    'delete from tracebook.leaves where index = (select max(index) from tracebook.leaves)',
  'there is a leaf too many': `insert into tracebook.leaves select index + 1, event_id, position, stream, revision, hash
    from tracebook.leaves order by index desc limit 1`,
  'a leaf has another hash': `update tracebook.leaves set hash = sha256('x') where index = 515`,
  'the hash of a full tile is another one': `update tracebook.subtrees set hash = sha256('x') where level = 1 and index = 0`,
  'the hash of a full tile is missing': 'delete from tracebook.subtrees where level = 1 and index = 1',
  'the checkpoint has another root': `update tracebook.audit_keys set root = sha256('x')`,
  'the process is said to be further back': `update tracebook.processes set position = position - 3, event_position = event_position - 3,
    event_id = (select event_id from tracebook.leaves where position = event_position - 3) where name = 'proof'`,
}

/** A process on a log with some events, all of them covered and signed, then closed, damaged and started again. */
const startDamaged = async (database: Database, log: EventLog, damage: string) => {
  const first = start(database, log)
  for (let i = 0; i < 3; i++) await log.append(`thing-${newId()}`, 'none', numbered(175))
  await untilCovered(database, log)
  await until(
    async () => (await onServer(database.url, 'select from tracebook.audit_keys where size = 525')).rows.length > 0,
  )
  await first.close()
  await onServer(database.url, damage)
  const said: string[] = []
  const logger = {
    info: () => {},
    error: (data: object, message: string) => void said.push(`${message} ${JSON.stringify(data)}`),
  }
  return { proof: startTreeProcess({ url: database.url, log, signer, now: Date.now, logger, outage }), said }
}

for (const [name, damage] of Object.entries(damages))
  test(`the tree is not continued, and the log says so, when ${name}`, async ({ database, ends }) => {
    const log = openLog(database)
    ends.push(log.close)
    const { proof, said } = await startDamaged(database, log, damage)
    ends.push(proof.close)
    const before = await leavesIn(database)
    await log.append(`thing-${newId()}`, 'none', numbered(5))
    await until(() => said.some((line) => line.includes('not continued')))
    assert.ok(proof.isRefused())
    assert.equal(await leavesIn(database), before)
    const { rows } = await onServer(database.url, 'select refused from tracebook.tree')
    assert.match(said.join(), String(rows[0]!.refused))
  })

test('a tree that is not continued is not served, and the metrics show it; writes go on', async ({
  database,
  openNode,
}) => {
  const first = await openNode()
  const { token } = await signIn(first)
  await untilSigned(first, token, database)
  await first.close()
  await onServer(database.url, `update tracebook.audit_keys set root = sha256('x')`)
  const app = await openNode()
  await until(async () => /^tracebook_audit_refused 1$/m.test((await app.app.inject('/metrics')).body))
  assert.is((await app.call('PUT', '/v1/traces/t', { token, body: {} })).status, 200)
  for (const url of ['checkpoint', 'key', 'tile/0/000.p/1', 'consistency?from=1&to=1'])
    assert.is((await app.call('GET', `/v1/audit/${url}`, { token })).status, 404, url)
})

test.run()
