import { hash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { checkRestorable, restoreBackup } from '../../../src/eventstore/backup/restore.ts'
import { type BackupContent, readBackup } from '../../../src/eventstore/backup/write.ts'
import { migrate } from '../../../src/eventstore/postgres/migrate.ts'
import { writeWhole } from '../../../src/client/transfer/output-file.ts'
import { inFolder } from '../embedded/support.ts'
import { type Database, freshDatabase, onServer } from '../../support/database.ts'
import { type App, openApp } from '../../support/open-app.ts'

const test = suite('a backup')
delete process.env.TEST_LOG_URL // a log in EventStoreDB is in no backup

const emptyDatabase = async (): Promise<Database> => {
  const database = await freshDatabase({ readModels: false })
  await onServer(database.url, 'drop schema log cascade; drop schema tracebook cascade')
  await onServer(database.url, 'drop schema if exists graphile_worker cascade')
  return database
}

const backup = async (url: string, file: string, check = () => {}): Promise<BackupContent> => {
  let written: BackupContent | undefined
  await writeWhole(
    file,
    readBackup({ url, at: Date.now(), check }, (all) => (written = all)),
  )
  return written!
}

const restore = async (path: string, url: string, check = () => {}) =>
  restoreBackup(await checkRestorable(path), { path, url, check })

/** The text of a backup with another header, and a trailer that fits to it. */
const withHeader = (text: string, changes: object): string => {
  const [header = '', ...rest] = text.trimEnd().split('\n')
  const { rows } = JSON.parse(rest.pop()!) as { rows: number }
  const body = [JSON.stringify({ ...(JSON.parse(header) as object), ...changes }), ...rest, ''].join('\n')
  return `${body}${JSON.stringify({ rows, sha256: hash('sha256', body) })}\n`
}

/** A folder, a database with a backup of it to be made, and an empty one. */
const inWorld = (work: (world: { folder: string; full: Database; empty: Database }) => Promise<unknown>) =>
  inFolder(async (folder) => {
    const [full, empty] = [await freshDatabase(), await emptyDatabase()]
    try {
      await work({ folder, full, empty })
    } finally {
      await Promise.all([full.drop(), empty.drop()])
    }
  })

const signUp = async ({ call }: App): Promise<string> => {
  const { data } = await call('POST', '/v1/session', { body: { deviceId: 'device-of-sixteen' } })
  return (data as { session: { token: string } }).session.token
}

const messageBody = (text: string) => ({ role: 'user', textContent: text })

test('made during writes has everything acknowledged before it began, and the log goes on from there', () =>
  inWorld(async ({ folder, full, empty }) => {
    const file = join(folder, 'backup')
    const app = await openApp(full.url)
    const token = await signUp(app)
    await app.call('PUT', '/v1/traces/t', { token, body: { title: 'Kept' } })
    let [written, stopped] = [0, false]
    const put = (name: string) =>
      app.call('PUT', `/v1/traces/t/messages/${name}`, { token, body: messageBody(`\0 \\. \t ${name}\n\\.\n`) })
    const writing = (async () => {
      while (!stopped) {
        assert.is((await put(`m-${written}`)).status, 200)
        written += 1
      }
    })()
    let before = 0
    for (let i = 0; i < 20; i++) await put(`before-${i}`)
    before = written
    const { events } = await backup(full.url, file)
    stopped = true
    await writing
    assert.ok(events > 0)
    const { data } = await app.call('GET', '/v1/session', { token })
    const { logId } = data as { logId: string }
    await app.close()

    assert.is((await restore(file, empty.url)).events, events)
    const again = await openApp(empty.url)
    try {
      const answer = await again.call('GET', '/v1/traces/t/messages', { token })
      const { messages } = answer.data as { messages: { externalId: string; textContent: string }[] }
      const found = new Map(messages.map(({ externalId, textContent }) => [externalId, textContent]))
      for (let i = 0; i < 20; i++) assert.is(found.get(`before-${i}`), `\0 \\. \t before-${i}\n\\.\n`)
      for (let i = 0; i < before; i++) assert.ok(found.has(`m-${i}`), `m-${i} of ${before}`)
      const session = await again.call('GET', '/v1/session', { token })
      assert.is.not((session.data as { logId: string }).logId, logId, 'clients see another log')
      assert.is((await again.call('PUT', '/v1/traces/t', { token, body: { title: 'Goes on' } })).status, 200)
      assert.equal((await again.service.readiness()).missing, [])
    } finally {
      await again.close()
    }
  }))

test('has every table but those that are rebuilt, so that each new table has to be considered', () =>
  inWorld(async ({ folder, full }) => {
    const file = join(folder, 'backup')
    await backup(full.url, file)
    const lines = (await readFile(file, 'utf8')).split('\n')
    assert.equal(
      lines.filter((line) => line.startsWith('{"table"')).map((line) => (JSON.parse(line) as { table: string }).table),
      [
        'log.appends',
        'log.identity',
        'tracebook.attribution_keys',
        'tracebook.audit_keys',
        'tracebook.avatars',
        'tracebook.leaves',
        'tracebook.session_uses',
        'tracebook.subtrees',
        'tracebook.tree',
      ],
    )
  }))

test('that is incomplete or damaged is refused with the reason, before anything is written', () =>
  inWorld(async ({ folder, full, empty }) => {
    const file = join(folder, 'backup')
    const app = await openApp(full.url)
    await signUp(app)
    await app.close()
    await backup(full.url, file)
    const whole = await readFile(file, 'utf8')
    const cases: readonly (readonly [string, RegExp])[] = [
      ['', /is not a backup/],
      ['{"traces":[]}\n', /is not a backup/],
      [whole.slice(0, -20), /is incomplete/],
      [whole.slice(0, whole.length / 2), /is incomplete/],
      [whole.replace('UserCreated', 'UserCreates'), /is damaged or was changed: the SHA-256/],
      [withHeader(whole, { migration: '9999_later' }), /whose tables this version does not know/],
      [whole.replace('\\.\n{"table"', '\\.\n{"fable"'), /is damaged: a line is neither/],
      [`${whole}\n`, /is damaged: there is text after/],
      [withHeader(whole, { tracebookBackup: 2 }), /was written by Tracebook .*: restore it with/],
    ]
    for (const [text, words] of cases) {
      const broken = join(folder, 'broken')
      await writeFile(broken, text)
      const error = await restore(broken, empty.url).then(
        () => undefined,
        (thrown: Error) => thrown,
      )
      assert.match(error!.message, words)
      assert.ok(error!.message.startsWith(broken), 'the file is named')
    }
    assert.equal((await onServer(empty.url, "select from pg_namespace where nspname in ('log', 'tracebook')")).rows, [])
  }))

test('is restored into an empty database only', () =>
  inWorld(async ({ folder, full }) => {
    const file = join(folder, 'backup')
    await backup(full.url, file)
    const error = await restore(file, full.url).then(
      () => undefined,
      (thrown: Error) => thrown,
    )
    assert.match(error!.message, /the database already has data of a service/)
    await migrate(full.url)
  }))

test('whose restore is interrupted anywhere leaves a database that is refused, and can be restored again', () =>
  inWorld(async ({ folder, full, empty }) => {
    const file = join(folder, 'backup')
    const app = await openApp(full.url)
    await signUp(app)
    await app.close()
    const { rows } = await backup(full.url, file)
    for (const steps of [1, 3]) {
      let left = steps
      const check = () => {
        if (left-- === 0) throw new Error('broken off')
      }
      const error = await restore(file, empty.url, check).then(
        () => undefined,
        (thrown: Error) => thrown,
      )
      assert.is(error!.message, 'broken off')
      const refused = await migrate(empty.url).then(
        () => undefined,
        (thrown: Error) => thrown,
      )
      assert.match(refused!.message, /incomplete. Run `tracebook restore FILE` again/)
      const copied = await backup(empty.url, join(folder, 'other')).then(
        () => undefined,
        (thrown: Error) => thrown,
      )
      assert.match(copied!.message, /incomplete/)
    }
    assert.is((await restore(file, empty.url)).rows, rows)
    await migrate(empty.url)
  }))

test('that is interrupted leaves the previous file', () =>
  inWorld(async ({ folder, full }) => {
    const file = join(folder, 'backup')
    await writeFile(file, 'before')
    const noRoom = () => {
      throw new Error('no room')
    }
    const error = await backup(full.url, file, noRoom).then(
      () => undefined,
      (thrown: Error) => thrown,
    )
    assert.is(error!.message, 'no room')
    assert.is(await readFile(file, 'utf8'), 'before')
  }))

test.run()
