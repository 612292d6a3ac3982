import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readConfig } from '../src/config.ts'
import { newHostCheck } from '../src/http/host.ts'
import { readSigner } from '../src/proof/keys.ts'
import { inFolder } from './embedded/support.ts'

const test = suite('the container files')

const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')
const dockerfile = read('Dockerfile')
const compose = read('compose.yaml')

/** The environment of a node that `docker compose up` starts, with these variables set for `docker compose` itself. */
const environmentOf = (set: Readonly<Record<string, string>> = {}): Record<string, string> => {
  const [, image = ''] = /^ENV (.*)$/m.exec(dockerfile) ?? []
  const [, block = ''] = /environment: &environment\n((?: {4}.*\n)+)/.exec(compose) ?? []
  const own = [...block.matchAll(/^ {4}([A-Z_]+): (.*)$/gm)].map(([, name, value]) => {
    const given = value!.replace(/\$\{(\w+):-(.*)\}/, (_, variable: string, usual: string) => set[variable] ?? usual)
    return [name, given] as const
  })
  return Object.fromEntries([...image.split(' ').map((pair) => pair.split('=') as [string, string]), ...own])
}

const published = [...compose.matchAll(/ports: \['(127\.0\.0\.1:\d+):3000'\]/g)].map(([, address]) => address!)

/** The code of the refusal of a request for a host. */
const refusalOf = (host: string, set?: Readonly<Record<string, string>>): string | undefined =>
  newHostCheck(readConfig(environmentOf(set)))({ rawHeaders: ['Host', host], httpVersion: '1.1' })?.code

test('nodes answer at their published addresses, and to each other', () => {
  assert.is(published.length, 2)
  for (const host of [...published, 'localhost:3001', 'api-1:3000', 'api-2:3000']) assert.is(refusalOf(host), undefined)
})

test('nodes answer at a public address of their own', () => {
  const set = { PUBLIC_URL: 'https://traces.example.org', TRUST_PROXY: 'uniquelocal' }
  for (const host of [...published, 'traces.example.org']) assert.is(refusalOf(host, set), undefined)
  assert.is(refusalOf('192.0.2.7', { ...set, ALLOWED_HOSTS: '192.0.2.7' }), undefined)
})

test('nodes answer to no name that a website has', () => {
  for (const host of ['rebound.example.com', 'rebound.example.com:3001']) assert.is(refusalOf(host), 'forbidden')
})

test('the worker signs with a key that is made at the first start, and stays', async () => {
  const [, worker = ''] = /^ {2}worker:\n((?: {4}.*\n)+)/m.exec(compose) ?? []
  assert.match(worker, 'AUDIT_KEY_FILE: /data/audit.key')
  assert.match(worker, /volumes: \['audit:\/data:ro'\]/)
  assert.match(worker, /audit-key: { condition: service_completed_successfully }/)
  const [, script = ''] = /^ {2}audit-key:\n[^]*? - \|\n((?: {8}.*\n)+)/m.exec(compose) ?? []
  await inFolder(async (folder) => {
    const text = script.replaceAll('/data', folder).replaceAll('$$', '$').replace('node ', `'${process.execPath}' `)
    const make = () =>
      promisify(execFile)('sh', ['-c', text], {
        cwd: fileURLToPath(new URL('..', import.meta.url)),
        env: { ...process.env, AUDIT_ORIGIN: 'traces.example.org/log' },
      })
    assert.match((await make()).stderr, 'public key: traces.example.org/log+')
    const file = join(folder, 'audit.key')
    const signer = await readSigner({ AUDIT_KEY_FILE: file }, undefined)
    assert.is((await stat(file)).mode & 0o777, 0o600)
    assert.is((await make()).stderr, '')
    assert.is((await readSigner({ AUDIT_KEY_FILE: file }, undefined))?.text, signer!.text)
    assert.is(signer!.name, 'traces.example.org/log')
  })
})

/** The exit code of the image's health check, for a service on a port. */
const check = (port: number): Promise<number> => {
  const [, command = '[]'] = /^HEALTHCHECK CMD (.*)$/m.exec(dockerfile) ?? []
  const [, ...args] = JSON.parse(command) as string[]
  const env = { ...process.env, PORT: `${port}` }
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env }, (error) => resolve(error === null ? 0 : (error.code as number)))
  })
}

test('the health check asks the port of the service, by a host that is always answered', async () => {
  const asked: (string | undefined)[] = []
  let status = 200
  const server = createServer(({ url, headers }, response) => {
    asked.push(url)
    assert.is(refusalOf(headers.host!), undefined)
    response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  assert.is(await check(port), 0)
  status = 403
  assert.is(await check(port), 1)
  assert.equal(asked, ['/health', '/health'])
  await new Promise((resolve) => server.close(resolve))
  assert.is(await check(port), 1)
})

test.run()
