import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readConfig } from '../../../src/server/config.ts'
import { migrate } from '../../../src/eventstore/postgres/migrate.ts'
import { UnsuitableServer, unsuitable, warningsOf } from '../../../src/eventstore/postgres/server-check.ts'
import { openDatabase } from '../../../src/server/service/database.ts'
import { errorOf as reasonOf } from '../log/support/events.ts'
import { databaseUrl, dropDatabase, freshDatabase, onServer } from '../../support/database.ts'
import { openApp } from '../../support/open-app.ts'

const test = suite('the PostgreSQL of DATABASE_URL')

const errorOf = (attempt: Promise<unknown>) => reasonOf(attempt) as Promise<Error>

const good = { number: 150018, version: '15.18', database: 'd', role: 'r', encoding: 'UTF8', seqscan: 'off' }

test('is used from version 14 on', () => {
  assert.is(unsuitable(good), undefined)
  assert.is(unsuitable({ ...good, number: 140000 }), undefined)
  assert.match(
    unsuitable({ ...good, number: 130020, version: '13.20' })!,
    /is PostgreSQL 13\.20, but 14 or later is needed/,
  )
})

test('is refused by a start if the database is not UTF8, with the command that makes a right one', async () => {
  const server = process.env.TEST_POSTGRES_URL!
  const name = `${process.env.TEST_RUN}_${randomBytes(6).toString('hex')}`
  await onServer(
    server,
    `create database "${name}" template template0 encoding 'SQL_ASCII' locale_provider libc locale 'C'`,
  )
  try {
    const error = await errorOf(openApp(databaseUrl(server, name)))
    assert.instance(error, UnsuitableServer)
    const { rows } = await onServer(server, 'select current_user as role')
    const create = `createdb --template=template0 --encoding=UTF8 --locale=C --owner='${rows[0]!.role}' '${name}_utf8'`
    const told = `DATABASE_URL: the database ${name} has the encoding SQL_ASCII, but UTF8 is needed: create another one with "${create}"`
    assert.ok(error.message.startsWith(told), error.message)
  } finally {
    await dropDatabase(server, name)
  }
})

/** The text pairs of a startup packet, without `options`. */
const withoutOptions = (packet: Buffer): Buffer => {
  const words = packet.subarray(8).toString('latin1').split('\0')
  const at = words.indexOf('options')
  if (at >= 0) words.splice(at, 2)
  const text = Buffer.from(words.join('\0'), 'latin1')
  const head = Buffer.from(packet.subarray(0, 8))
  head.writeInt32BE(8 + text.length)
  return Buffer.concat([head, text])
}

const refusalOf = (text: string): Buffer => {
  const body = Buffer.from(`SFATAL\0VFATAL\0C08P01\0M${text}\0\0`, 'latin1')
  const head = Buffer.from('E\0\0\0\0', 'latin1')
  head.writeInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}
const REFUSAL = refusalOf('unsupported startup parameter: options')

/** Passes connections on as a pooler does that ignores the parameter `options`, or that refuses it. */
const newPooler = async (target: string, mode: 'ignores' | 'refuses') => {
  const { searchParams, hostname, port, username, password, pathname } = new URL(target)
  const folder = searchParams.get('host')
  const pooler = createServer((client) => {
    client
      .on('error', () => {})
      .once('data', (packet: Buffer) => {
        if (mode === 'refuses') return void client.end(REFUSAL)
        const place = Number(port || 5432)
        const server = folder ? connect(join(folder, `.s.PGSQL.${place}`)) : connect(place, hostname)
        server.on('error', () => client.destroy())
        server.write(withoutOptions(packet))
        client.pipe(server).pipe(client)
      })
  }).listen(0, '127.0.0.1')
  await once(pooler, 'listening')
  const listening = (pooler.address() as AddressInfo).port
  const url = `postgresql://${username}:${password}@127.0.0.1:${listening}${pathname}?sslmode=disable`
  return { url, close: () => void pooler.close() }
}

test('is not reached through a pooler that drops or refuses what is sent with a connection', async () => {
  const database = await freshDatabase()
  const [ignoring, refusing] = [await newPooler(database.url, 'ignores'), await newPooler(database.url, 'refuses')]
  try {
    assert.match(
      (await errorOf(migrate(ignoring.url))).message,
      /^DATABASE_URL: .*connect to PostgreSQL itself, not to a pooler/,
    )
    const config = readConfig({ DATABASE_URL: refusing.url })
    const refused = await errorOf(openDatabase(config, pino({ level: 'silent' }), new AbortController().signal))
    assert.match(
      refused.message,
      /^DATABASE_URL: .*unsupported startup parameter: options\. Connect to PostgreSQL itself, not to a pooler/,
    )
  } finally {
    ignoring.close()
    refusing.close()
    await database.drop()
  }
})

test('has warnings about what only an operator can change', () => {
  assert.equal(warningsOf({ free: 36, isDurable: true, autovacuum: true, logsValues: false }, 36), [])
  const [connections, commits, autovacuum, values] = warningsOf(
    { free: 35, isDurable: false, autovacuum: false, logsValues: true },
    36,
  )
  assert.match(connections!, /only 35 more connections.*may open 36 \(DATABASE_CONNECTIONS\): raise max_connections/)
  assert.match(commits!, /a log there takes no writes\. Switch both on/)
  assert.match(autovacuum!, /Switch autovacuum and track_counts on/)
  assert.match(values!, /log_parameter_max_length to 0/)
})

test('is warned of at the start if it takes fewer connections than the service may open, or acknowledges commits too early', async () => {
  const database = await freshDatabase()
  const lines: string[] = []
  const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
  try {
    const name = new URL(database.url).pathname.slice(1)
    for (const change of ['connection limit 38', 'set synchronous_commit = off'])
      await onServer(process.env.TEST_POSTGRES_URL!, `alter database "${name}" ${change}`)
    const app = await openApp(database.url, { logger, env: { DATABASE_CONNECTIONS: '39' } })
    await app.close()
    for (const warning of ['may open 39 (DATABASE_CONNECTIONS)', 'takes no writes'])
      assert.is(lines.filter((line) => line.includes(warning)).length, 1, warning)
  } finally {
    await database.drop()
  }
})

test.run()
