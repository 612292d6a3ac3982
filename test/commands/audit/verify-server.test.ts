import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Signer, generateSigner } from '../../../src/server/proof/note.ts'
import { WITH_WORKER, type EmptyWorld, newEmptyWorld, signIn } from '../../support/world.ts'
import { signer, untilSigned, writeTrace } from '../../server/proof/support.ts'
import { openBareLog } from '../../support/bare-log.ts'
import { onServer } from '../../support/database.ts'
import { logEnvironment } from '../../support/log-place.ts'
import { inTemporary, run } from '../support/user.ts'

type Log = EmptyWorld & { readonly id: string; readonly signer: Signer }
type Served = { readonly url: string; readonly size: number; close(): Promise<void> }
type Scene = { logs: Log[] }

const test = suite<Scene>('tracebook audit verify --server')
test.before.each((scene) => {
  scene.logs = []
})
test.after.each(async ({ logs }) => {
  for (const { close } of logs) await close()
})

/** A log in a new database: of its own, or, as somebody makes it who owns the database, with the id of another one. */
const newLog = async ({ logs }: Scene, key = signer, of?: Log): Promise<Log> => {
  const world = await newEmptyWorld({ env: { ...WITH_WORKER, AUDIT_PUBLIC: 'on', AUDIT_KEY: key.text } })
  const { database } = world
  await onServer(database.url, 'update log.identity set id = coalesce($1, gen_random_uuid())', [of?.id])
  await onServer(database.url, 'delete from tracebook.followed_log')
  const bare = openBareLog(database.url)
  const { id } = await bare.identity().finally(() => bare.close())
  const log = { ...world, id, signer: key }
  logs.push(log)
  return log
}

/** Serves a log at a port, and waits until all of it is signed, with so many more messages. */
const serve = async (log: Log, { at = '', messages = 1 } = {}): Promise<Served> => {
  const app = await log.openNode()
  const url = await app.app.listen({ host: '127.0.0.1', port: at ? Number(new URL(at).port) : 0 })
  const { token } = await signIn(app, 'device')
  await writeTrace(app, token, 't', messages, String(Math.random()))
  return { url, size: (await untilSigned(app, token, log.database)).size, close: app.close }
}

/** An auditor with a folder for what is kept. */
const newAuditor = (config: string) => ({
  verify: (url: string, ...more: string[]) =>
    run(['audit', 'verify', '--server', url, ...more], { TRACEBOOK_CONFIG_DIR: config }),
  /** All that is kept, to the letter. */
  kept: async () => {
    const folder = join(config, 'audit')
    const names = (await readdir(folder)).sort()
    return Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  },
})
type Auditor = ReturnType<typeof newAuditor>

/** Another log is refused without a trace of it; the command says what takes it. */
const assertRefused = async (auditor: Auditor, url: string, ...words: string[]) => {
  const before = await auditor.kept()
  const { how, out } = await auditor.verify(url)
  assert.is(how, 3, out)
  assert.match(out, /^REFUSED: /)
  for (const word of words) assert.ok(out.includes(word), `${word} is not in ${out}`)
  assert.equal(await auditor.kept(), before)
}

test('refuses another log at the address of one that was kept, until its id is accepted', (scene) =>
  inTemporary(async (folder) => {
    const auditor = newAuditor(folder)
    const [log, forged] = [await newLog(scene), await newLog(scene, generateSigner('forged.example.com/log'))]
    const first = await serve(log)
    assert.is((await auditor.verify(first.url)).how, 0)
    await first.close()

    const second = await serve(forged, { at: first.url })
    const { text: key } = forged.signer.verifier
    const spelt = first.url.replace('127.0.0.1', 'localhost')
    for (const url of [first.url, spelt])
      await assertRefused(auditor, url, log.id, `--accept-log ${forged.id}`, `--accept-key ${key}`)
    assert.is((await auditor.verify(first.url, '--require-kept')).how, 3)
    assert.is((await auditor.verify(first.url, '--accept-log', log.id)).how, 3, 'another id was accepted')
    assert.is((await auditor.verify(first.url, '--accept-log', forged.id)).how, 3, 'its key is unknown, too')
    const accepted = await auditor.verify(first.url, '--accept-log', forged.id, '--accept-key', key)
    assert.is(accepted.how, 0, accepted.out)
    assert.is((await auditor.verify(first.url)).how, 0, 'accepted once')
    assert.is((await auditor.kept()).length, 2, 'what was kept of the former one stays')
    await second.close()

    await serve(log, { at: first.url })
    await assertRefused(auditor, first.url, `--accept-log ${log.id}`)
  }))

test('refuses another log of the same origin at another address, until its id is accepted', (scene) =>
  inTemporary(async (folder) => {
    const auditor = newAuditor(folder)
    const [log, forged] = [await newLog(scene), await newLog(scene)]
    const first = await serve(log)
    assert.is((await auditor.verify(first.url)).how, 0)
    const second = await serve(forged)
    await assertRefused(auditor, second.url, signer.name, log.id, `--accept-log ${forged.id}`)
    const accepted = await auditor.verify(second.url, '--accept-log', forged.id)
    assert.is(accepted.how, 0, accepted.out)
    for (const { url } of [first, second, first]) assert.is((await auditor.verify(url)).how, 0)
  }))

test('refuses another key of the same origin, until id and key are accepted', (scene) =>
  inTemporary(async (folder) => {
    const auditor = newAuditor(folder)
    const [log, forged] = [await newLog(scene), await newLog(scene, generateSigner(signer.name))]
    const first = await serve(log)
    assert.is((await auditor.verify(first.url)).how, 0)
    const second = await serve(forged)
    const { text: key } = forged.signer.verifier
    await assertRefused(auditor, second.url, `--accept-log ${forged.id}`, `--accept-key ${key}`)
    assert.is((await auditor.verify(second.url, '--accept-key', key)).how, 3)
    assert.is((await auditor.verify(second.url, '--accept-log', forged.id)).how, 3)
    assert.is((await auditor.verify(second.url, '--accept-log', forged.id, '--key', key)).how, 0)
  }))

test('reads checkpoints kept by an earlier version, which kept no addresses', (scene) =>
  inTemporary(async (folder) => {
    const auditor = newAuditor(folder)
    const [log, forged] = [await newLog(scene), await newLog(scene)]
    const first = await serve(log)
    assert.is((await auditor.verify(first.url)).how, 0)
    const path = join(folder, 'audit', (await readdir(join(folder, 'audit')))[0]!)
    const { addresses: _, ...older } = JSON.parse(await readFile(path, 'utf8'))
    await writeFile(path, JSON.stringify(older))

    const second = await serve(forged)
    await assertRefused(auditor, second.url, log.id, `--accept-log ${forged.id}`)
    const known = await auditor.verify(first.url, '--require-kept')
    assert.is(known.how, 0, known.out)
    assert.match(known.out, `It continues the kept checkpoint of size ${first.size}`)
  }))

test('reads the log in a database by the same rule', (scene) =>
  inTemporary(async (folder) => {
    const auditor = newAuditor(folder)
    const [log, forged] = [await newLog(scene), await newLog(scene)]
    const first = await serve(log)
    assert.is((await auditor.verify(first.url)).how, 0)
    await (await serve(forged)).close()
    const here = {
      DATABASE_URL: forged.database.url,
      ...logEnvironment(forged.database.url),
      TRACEBOOK_CONFIG_DIR: folder,
    }
    const before = await auditor.kept()
    const refused = await run(['audit', 'verify'], here)
    assert.is(refused.how, 3, refused.err)
    assert.match(refused.out, `--accept-log ${forged.id}`)
    assert.equal(await auditor.kept(), before)
    const accepted = await run(['audit', 'verify', '--accept-log', forged.id], here)
    assert.is(accepted.how, 0, accepted.out)
    assert.is((await auditor.verify(first.url)).how, 0)
  }))

// In EventStoreDB a log's id is not a row that can be written.
if (!process.env.TEST_LOG_URL)
  test('says that a log has lost its end, or another one in its place, and keeps what it kept', (scene) =>
    inTemporary(async (folder) => {
      const auditor = newAuditor(folder)
      const log = await newLog(scene)
      const restored = await newLog(scene, signer, log)
      const first = await serve(log, { messages: 40 })
      assert.is((await auditor.verify(first.url)).how, 0)
      await first.close()

      const second = await serve(restored, { at: first.url, messages: 3 })
      assert.ok(second.size < first.size)
      const lost = 'has lost its end, for example with a restored backup'
      await assertRefused(auditor, first.url, lost, `size ${second.size}`, `size ${first.size}`)
      await second.close()
      await serve(restored, { at: first.url, messages: 60 })
      await assertRefused(auditor, first.url, 'events before it were changed, or were lost', `size ${first.size}`)
    }))

test.run()
