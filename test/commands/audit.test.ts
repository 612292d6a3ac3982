import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { signCheckpoint } from '../../src/proof/checkpoint.ts'
import { generateSigner, parseSigner, renameSigner } from '../../src/proof/note.ts'
import { onServer } from '../support/database.ts'
import { readRunningService } from '../../src/embedded/lock.ts'
import { until } from '../support/until.ts'
import { inTemporary, newUser, run, startService } from './support/processes.ts'

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
  inTemporary(async (folder) => {
    const dataDir = join(folder, 'data')
    const service = await startService(dataDir)
    const user = newUser(folder, service.url)
    assert.is((await user.run('login')).how, 0)
    const config = JSON.parse(
      await readFile(join(user.config, 'servers', (await readdir(join(user.config, 'servers')))[0]!), 'utf8'),
    ) as { login: { token: string } }
    const headers = { authorization: `Bearer ${config.login.token}`, 'content-type': 'application/json' }
    const put = (body: object) =>
      fetch(`${service.url}/v1/traces/t`, { method: 'PUT', headers, body: JSON.stringify(body) })
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
    assert.match(proven.out, 'from elsewhere')
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
      `update log.appends set data = convert_to(replace(convert_from(data, 'UTF8'), 'second', 'forged'), 'UTF8')
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

test('a log that does not continue what was kept of it is refused', () =>
  inTemporary(async (folder) => {
    const dataDir = join(folder, 'data')
    const service = await startService(dataDir)
    const user = newUser(folder, service.url)
    assert.is((await user.run('login')).how, 0)
    const kept = (where: string) => run(['audit', 'verify', ...(where ? ['--server', where] : [])], here)
    const here = { DATA_DIR: dataDir, TRACEBOOK_CONFIG_DIR: user.config }
    const { databaseUrl } = (await readRunningService(dataDir))!
    const isSigned = 'select from tracebook.audit_keys k, tracebook.tree t where k.size = t.size and k.size > 3'
    await until(async () => (await onServer(databaseUrl, isSigned)).rows.length > 0)
    for (const where of [service.url, '']) assert.is((await kept(where)).how, 0)
    await service.end('SIGTERM')

    // Another log grows in its place, under the same key and name.
    const again = await startService(dataDir, Number(new URL(service.url).port))
    const running = (await readRunningService(dataDir))!
    assert.is(running.databaseUrl, databaseUrl)
    // In one transaction: between two the process of the tree could add to what is left.
    await onServer(
      databaseUrl,
      `delete from tracebook.processes where name = 'proof'; update tracebook.tree set size = 0;
       delete from tracebook.leaves; delete from tracebook.audit_keys; delete from tracebook.subtrees;
       delete from log.appends where last = (select min(last) from log.appends)`,
    )
    await again.end('SIGTERM')
    const forked = await startService(dataDir, Number(new URL(service.url).port))
    const headers = {
      authorization: `Bearer ${(JSON.parse(await readFile(join(user.config, 'servers', (await readdir(join(user.config, 'servers')))[0]!), 'utf8')) as { login: { token: string } }).login.token}`,
      'content-type': 'application/json',
    }
    for (let i = 0; i < 5; i++) await fetch(`${service.url}/v1/traces/t${i}`, { method: 'PUT', headers, body: '{}' })
    for (const where of [service.url, '']) {
      let ended = await kept(where)
      while (ended.how === 1) ended = await kept(where) // the new tree has just begun
      assert.is(ended.how, 3, ended.err)
      assert.match(ended.out, 'REFUSED')
    }
    await forked.end('SIGTERM')
  }))

test('a log under another origin is refused by who has kept it, until its key is accepted', () =>
  inTemporary(async (folder) => {
    const dataDir = join(folder, 'data')
    const keyFile = join(dataDir, 'audit.key')
    const first = await startService(dataDir)
    const user = newUser(folder, first.url)
    assert.is((await user.run('login')).how, 0)
    const verify = (...more: string[]) => user.run('audit', 'verify', '--server', first.url, ...more)
    assert.is((await verify()).how, 0)
    await first.end('SIGTERM')

    const renamed = renameSigner(parseSigner((await readFile(keyFile, 'utf8')).trim()), 'example.org/log')
    await writeFile(keyFile, `${renamed.text}\n`)
    const again = await startService(dataDir, Number(new URL(first.url).port))
    const { databaseUrl } = (await readRunningService(dataDir))!
    await until(async () => (await onServer(databaseUrl, 'select from tracebook.audit_keys')).rows.length === 2)
    const refused = await verify()
    assert.is(refused.how, 3)
    assert.match(refused.out, renamed.verifier.text)
    const accepted = await verify('--accept-key', renamed.verifier.text)
    assert.is(accepted.how, 0, accepted.out)
    assert.match(accepted.out, 'It continues the kept checkpoint')
    assert.match(accepted.err, 'The key has been replaced')
    assert.is((await verify()).how, 0, 'accepted once')
    assert.is((await readdir(join(user.config, 'audit'))).length, 1)
    await again.end('SIGTERM')
  }))

test('a replaced key is a finding until it is accepted, and one that was slipped in stays one', () =>
  inTemporary(async (folder) => {
    const dataDir = join(folder, 'data')
    const signed = async () => {
      const service = await startService(dataDir)
      const { databaseUrl } = (await readRunningService(dataDir))!
      const isSigned = 'select from tracebook.audit_keys k, tracebook.tree t where k.size = t.size'
      await until(async () => (await onServer(databaseUrl, isSigned)).rows.length > 0)
      return { service, databaseUrl }
    }
    const keyFile = join(dataDir, 'audit.key')
    const keyIn = async () => parseSigner((await readFile(keyFile, 'utf8')).trim())
    const verify = (config: string, ...more: string[]) =>
      run(['audit', 'verify', ...more], { DATA_DIR: dataDir, TRACEBOOK_CONFIG_DIR: join(folder, config) })

    const { service } = await signed()
    assert.is((await verify('kept')).how, 0)
    await service.end('SIGTERM')
    const old = await keyIn()
    const next = generateSigner(old.name)
    await writeFile(keyFile, `${next.text}\n`)
    const { service: again, databaseUrl } = await signed()
    await until(async () => (await onServer(databaseUrl, 'select from tracebook.audit_keys')).rows.length === 2)

    assert.is((await verify('kept')).how, 0, 'the old key was kept, the new one is configured')
    const unknown = await verify('first')
    assert.is(unknown.how, 3)
    assert.match(unknown.out, old.verifier.text)
    assert.is((await verify('first', '--accept-key', old.verifier.text)).how, 0)
    assert.is((await verify('first')).how, 0, 'accepted once')
    assert.is((await verify('kept', '--key', old.verifier.text)).how, 3)
    assert.is((await verify('kept', '--key', old.verifier.text, '--accept-key', next.verifier.text)).how, 0)
    assert.is((await verify('kept', '--accept-key', 'nonsense')).how, 2)

    const other = generateSigner(old.name)
    const { rows } = await onServer(databaseUrl, 'select size, root from tracebook.audit_keys where number = 2')
    const head = { size: Number(rows[0]!.size), root: rows[0]!.root as Buffer }
    await onServer(
      databaseUrl,
      `insert into tracebook.audit_keys (number, key, from_size, size, root, note, signed_at) values (3, $1, $2, $2, $3, $4, 0)`,
      [other.verifier.text, head.size, head.root, signCheckpoint(head, other)],
    )
    for (const config of ['kept', 'first', 'none']) {
      const { how, out } = await verify(config, '--accept-key', old.verifier.text)
      assert.is(how, 3)
      assert.match(out, other.verifier.text)
    }
    await again.end('SIGTERM')
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
