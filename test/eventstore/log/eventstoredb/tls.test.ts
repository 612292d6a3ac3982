import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ServerCredentials } from '@grpc/grpc-js'
import * as assert from 'uvu/assert'
import { scavengeAll } from '../../../../src/eventstore/log/eventstoredb/scavenge.ts'
import { LogUnavailable } from '../../../../src/eventstore/log/log.ts'
import { newCertificate } from '../../../support/certificate.ts'
import { all, errorOf, followPrefix, numbered } from '../support/events.ts'
import { type Scene, eventStoreSuite } from '../support/eventstoredb-scene.ts'

const test = eventStoreSuite('EventStoreDB with TLS and credentials')

/** A server that wants TLS and a password, and the parameter that makes its certificate known. */
const secured = async ({ another }: Scene, password: string) => {
  const { key, certificate } = newCertificate()
  const folder = await mkdtemp(join(tmpdir(), 'tracebook-tls-'))
  const file = join(folder, 'ca.pem')
  await writeFile(file, certificate)
  const pair = { private_key: Buffer.from(key), cert_chain: Buffer.from(certificate) }
  const double = await another({ credentials: ServerCredentials.createSsl(null, [pair]), password })
  const remove = () => rm(folder, { recursive: true })
  return { port: double.port, double, tls: `tls=true&tlsCAFile=${encodeURIComponent(file)}`, remove }
}

test('credentials and the certificate come from the URL, and go with every call', async (scene) => {
  const { port, tls, double, remove } = await secured(scene, 'ann:p:w/')
  for (const kind of ['esdb', 'kurrentdb']) {
    const url = `${kind}://ann:p%3Aw%2F@localhost:${port}?${tls}`
    const log = scene.open({ url })
    await log.append(kind, 'none', numbered(2))
    await log.truncate(kind, 1n)
    assert.is((await all(log.read(kind))).length, 1)
    assert.is((await followPrefix(log, kind, { after: 0n, count: 1 })).length, 1)
    assert.ok((await log.head()) > 0n)
    assert.equal(
      (await scavengeAll(url)).map(({ node, is }) => [node, is]),
      [[`localhost:${port}`, 'started']],
    )
  }
  assert.is(double.faults.count('scavenge'), 2)
  assert.is(double.faults.count('batchAppend'), 0)
  await remove()
})

test('a wrong password is reported at once, a wrong certificate at the deadline', async (scene) => {
  const { port, tls, remove } = await secured(scene, 'ann:right')
  const wrong = scene.open({ url: `esdb://ann:wrong@localhost:${port}?${tls}`, deadlineMs: 60_000 })
  const refused = [wrong.append('a', 'none', numbered(1)), all(wrong.read('a')), wrong.head(), wrong.truncate('a', 1n)]
  for (const error of await Promise.all(refused.map(errorOf))) {
    assert.instance(error, LogUnavailable)
    assert.match((error as Error).message, 'user or password in EVENTSTORE_URL')
    assert.is((error as LogUnavailable).stored, false)
  }
  const stranger = scene.open({ url: `esdb://ann:right@localhost:${port}?tls=true`, deadlineMs: 200 })
  const error = (await errorOf(stranger.append('a', 'none', numbered(1)))) as LogUnavailable
  assert.instance(error, LogUnavailable)
  assert.is(error.stored, false)
  await remove()
})

test.run()
