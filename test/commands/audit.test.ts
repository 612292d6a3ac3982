import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { signCheckpoint } from '../../src/server/proof/checkpoint.ts'
import { generateSigner, parseSigner, renameSigner } from '../../src/server/proof/note.ts'
import { onServer } from '../support/database.ts'
import { readRunningService } from '../../src/eventstore/embedded/lock.ts'
import { until } from '../support/until.ts'
import { signer } from '../server/proof/support.ts'
import { ask, tokenIn } from './support/api.ts'
import { inFolder } from '../eventstore/embedded/support.ts'
import { startService } from './support/processes.ts'
import { newUser, run } from './support/user.ts'
import { inOwnWorld } from './support/world.ts'

const test = suite('audit')

const json = (out: string) => JSON.parse(out) as Record<string, string>

/** Writes the bundle with something changed. */
const bend = async (file: string, change: (bundle: Record<string, unknown>) => void): Promise<string> => {
  const bundle = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>
  change(bundle)
  await writeFile(`${file}.bent`, JSON.stringify(bundle))
  return `${file}.bent`
}

test('an auditor gets a bundle, checks it offline, checks the service, and the log itself', () =>
  inFolder(async (folder) => {
    const dataDir = join(folder, 'data')
    const service = await startService(dataDir)
    const user = newUser(folder, service.url)
    assert.is((await user.run('login')).how, 0)
    const token = tokenIn(user.config)
    const put = (body: object) => ask(service.url, '/v1/traces/t', { token, method: 'PUT', body })
    await put({ title: 'first' })
    await put({ title: 'second' })

    const made = await user.run('audit', 'proof', 't', '1')
    assert.equal([made.how, made.err], [0, ''])
    const file = join(folder, 'bundle.json')
    await writeFile(file, made.out)
    const { key } = json(made.out) as { key: string }
    const offline = (...more: string[]) => run(['audit', 'verify', '--offline', ...more], {})
    const proven = await offline(file)
    assert.is(proven.how, 0)
    assert.match(proven.out, 'TraceUpdated')
    assert.match(proven.out, 'which came with the bundle')
    assert.match((await offline(file, '--key', key)).out, 'that you gave')
    for (const change of [
      (bundle: Record<string, unknown>) => (bundle.entry = String(bundle.entry).replace('second', 'third')),
      (bundle: Record<string, unknown>) => (bundle.index = 0),
      (bundle: Record<string, unknown>) => (bundle.checkpoint = String(bundle.checkpoint).replace(/\d+\n/, '99\n')),
      (bundle: Record<string, unknown>) => (bundle.key = generateSigner('tracebook.invalid/log').verifier.text),
      (bundle: Record<string, unknown>) => delete bundle.proof,
    ]) {
      const refused = await offline(await bend(file, change))
      assert.is(refused.how, 3, `${change} ${refused.out} ${refused.err} ${made.out}`)
      assert.match(refused.out, 'NOT proven')
    }
    assert.is((await offline(file, '--key', generateSigner('tracebook.invalid/log').verifier.text)).how, 3)
    assert.is((await offline(file, '--key', 'nonsense')).how, 2)
    assert.is((await offline(join(folder, 'none.json'))).how, 2)

    const { how, out } = await user.run('audit', 'verify', '--server', service.url, '--require-kept')
    assert.is(how, 4)
    assert.match(out, 'No checkpoint of this log was kept')
    const other = generateSigner('tracebook.invalid/log').verifier.text
    assert.is((await user.run('audit', 'verify', '--server', service.url, '--key', other)).how, 3)
    for (const [said, url] of [
      ['No checkpoint of this log was kept', service.url],
      ['It continues the kept checkpoint', service.url],
      ['It continues the kept checkpoint', `${service.url}/`],
    ] as const) {
      const remote = await user.run('audit', 'verify', '--server', url, '--key', key)
      assert.is(remote.how, 0, remote.err)
      assert.match(remote.out, said)
    }

    const here = { DATA_DIR: dataDir, TRACEBOOK_CONFIG_DIR: user.config }
    const first = await run(['audit', 'verify'], { ...here, TRACEBOOK_CONFIG_DIR: join(folder, 'other') })
    assert.is(first.how, 0)
    assert.match(first.out, 'No checkpoint of this log was kept')
    const running = await run(['audit', 'verify', '--require-kept'], here)
    assert.equal([running.how, running.err], [0, ''])
    assert.match(running.out, /^Verified: \d+ events, \d+ leaves. It continues/)
    const { databaseUrl } = (await readRunningService(dataDir))!
    const { rows } = await onServer(
      databaseUrl,
      `update log.appends set body = convert_to(replace(convert_from(body, 'UTF8'), 'second', 'forged'), 'UTF8')
       where heads::text like '%TraceUpdated%' returning ids[size] as id, stream`,
    )
    const caught = await run(['audit', 'verify', '--json'], here)
    assert.is(caught.how, 3)
    const [finding, last] = caught.out.trim().split('\n').map(json)
    assert.equal(
      [finding!.type, finding!.kind, finding!.id, finding!.stream, finding!.revision],
      ['finding', 'changed', rows[0]!.id, rows[0]!.stream, 1],
    )
    assert.is(last!.type, 'refused')
    assert.is((await user.run('audit', 'proof', 't', '1')).how, 1, 'what was forged is not proved')

    assert.is((await service.end('SIGTERM')).how, 0)
    const stopped = await run(['audit', 'verify'], here)
    assert.is(stopped.how, 3)
    assert.match(stopped.out, 'REFUSED')
  }))

/** Waits until a key has signed the whole tree, which then has more than `size` leaves. */
const untilSigned = (url: string, size = 0) =>
  until(async () => {
    const isSigned = 'select from tracebook.audit_keys k, tracebook.tree t where k.size = t.size and k.size > $1'
    return (await onServer(url, isSigned, [size])).rows.length > 0
  })

const untilKeys = (url: string, count: number) =>
  until(async () => (await onServer(url, 'select from tracebook.audit_keys')).rows.length === count)

test('a log that does not continue its kept checkpoint is refused', () =>
  inOwnWorld(async ({ url, databaseUrl, user, stop, restart }) => {
    const here = { DATABASE_URL: databaseUrl, AUDIT_KEY: signer.text, TRACEBOOK_CONFIG_DIR: user.config }
    const kept = (where: string) => run(['audit', 'verify', ...(where ? ['--server', where] : [])], here)
    await untilSigned(databaseUrl, 3)
    for (const where of [url, '']) assert.is((await kept(where)).how, 0)

    // Another log grows in its place, under the same key and name.
    await stop()
    await onServer(
      databaseUrl,
      `delete from tracebook.processes where name = 'proof'; update tracebook.tree set size = 0;
       delete from tracebook.leaves; delete from tracebook.audit_keys; delete from tracebook.subtrees;
       delete from log.appends where last = (select min(last) from log.appends)`,
    )
    await restart()
    const token = tokenIn(user.config)
    for (let i = 0; i < 5; i++) await ask(url, `/v1/traces/t${i}`, { token, method: 'PUT', body: {} })
    for (const where of [url, '']) {
      let ended = await kept(where)
      while (ended.how === 1) ended = await kept(where) // the new tree has just begun
      assert.is(ended.how, 3, ended.err)
      assert.match(ended.out, 'REFUSED')
    }
  }))

test('a log with a new origin is refused until its key is accepted', () =>
  inOwnWorld(async ({ url, databaseUrl, user, restart }) => {
    const verify = (...more: string[]) => user.run('audit', 'verify', '--server', url, ...more)
    await untilSigned(databaseUrl)
    assert.is((await verify()).how, 0)

    const renamed = renameSigner(signer, 'example.org/log')
    await restart(renamed)
    await untilKeys(databaseUrl, 2)
    const refused = await verify()
    assert.is(refused.how, 3)
    assert.match(refused.out, renamed.verifier.text)
    const accepted = await verify('--accept-key', renamed.verifier.text)
    assert.is(accepted.how, 0, accepted.out)
    assert.match(accepted.out, 'It continues the kept checkpoint')
    assert.match(accepted.err, 'The key has been replaced')
    assert.is((await verify()).how, 0, 'accepted once')
    assert.is((await readdir(join(user.config, 'audit'))).length, 1)
  }))

test('a replaced key is a finding until it is accepted; an inserted key remains one', () =>
  inOwnWorld(async ({ databaseUrl, folder, restart }) => {
    const next = generateSigner(signer.name)
    let configured = signer
    const verify = (config: string, ...more: string[]) =>
      run(['audit', 'verify', ...more], {
        DATABASE_URL: databaseUrl,
        AUDIT_KEY: configured.text,
        TRACEBOOK_CONFIG_DIR: join(folder, config),
      })
    await untilSigned(databaseUrl)
    assert.is((await verify('kept')).how, 0)
    configured = next
    await restart(next)
    await untilKeys(databaseUrl, 2)

    assert.is((await verify('kept')).how, 0, 'the old key was kept, the new one is configured')
    const unknown = await verify('first')
    assert.is(unknown.how, 3)
    assert.match(unknown.out, signer.verifier.text)
    assert.is((await verify('first', '--accept-key', signer.verifier.text)).how, 0)
    assert.is((await verify('first')).how, 0, 'accepted once')
    assert.is((await verify('kept', '--key', signer.verifier.text)).how, 3)
    assert.is((await verify('kept', '--key', signer.verifier.text, '--accept-key', next.verifier.text)).how, 0)
    assert.is((await verify('kept', '--accept-key', 'nonsense')).how, 2)

    const other = generateSigner(signer.name)
    const { rows } = await onServer(databaseUrl, 'select size, root from tracebook.audit_keys where number = 2')
    const head = { size: Number(rows[0]!.size), root: rows[0]!.root as Buffer }
    await onServer(
      databaseUrl,
      `insert into tracebook.audit_keys (number, key, from_size, size, root, note, signed_at) values (3, $1, $2, $2, $3, $4, 0)`,
      [other.verifier.text, head.size, head.root, signCheckpoint(head, other)],
    )
    for (const config of ['kept', 'first', 'none']) {
      const { how, out } = await verify(config, '--accept-key', signer.verifier.text)
      assert.is(how, 3)
      assert.match(out, other.verifier.text)
    }
  }))

test('a key is made for a log', async () => {
  const { how, out, err } = await run(['audit', 'new-key', 'traces.example.org/log'], {})
  assert.is(how, 0)
  const { verifier } = parseSigner(out.trim())
  assert.is(verifier.name, 'traces.example.org/log')
  assert.match(err, verifier.text)
  assert.is((await run(['audit', 'new-key', 'two words'], {})).how, 2)
})

test.run()
