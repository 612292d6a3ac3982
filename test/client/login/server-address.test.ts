import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { serverAddress } from '../../../src/client/config.ts'
import { digest } from '../../../src/client/digest.ts'
import {
  type Credentials,
  readCredentials,
  removeLogin,
  writeCredentials,
} from '../../../src/client/login/credentials.ts'
import { serverKey } from '../../../src/client/server-key.ts'
import { tempFolder } from '../support/temp.ts'

type Context = { config: string; env: Record<string, string>; remove: () => void }
const test = suite<Context>('the address of a server')

test.before.each((context) => {
  const { path, remove } = tempFolder()
  const config = join(path, 'config')
  Object.assign(context, { config, remove, env: { TRACEBOOK_CONFIG_DIR: config } })
})
test.after.each(({ remove }) => remove())

const deviceId = '0192f0c1-2b3d-4e4f-8a5b-6c7d8e9f0a1b'
const credentials = (server: string, at: number): Credentials => ({
  server,
  deviceId,
  login: { token: `token of ${server}`, userId: 'u', namespaceId: 'n', namespaceSlug: 's', at },
  others: [],
})

test('localhost, 127.0.0.1 and [::1] at one port are one server, others are not', () => {
  const same = ['http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]:3000']
  assert.equal([...new Set(same.map(serverKey))], ['http://127.0.0.1:3000'])
  assert.is(serverKey('https://localhost/base'), 'https://127.0.0.1/base')
  const others = [
    'http://127.0.0.1:3001',
    'https://127.0.0.1:3000',
    'http://127.0.0.2:3000',
    'http://localhost.example:3000',
  ]
  for (const other of others) assert.is.not(serverKey(other), serverKey(same[0]!), other)
})

test('a login is found under each spelling of its server, and used with the one that was typed', async ({ config }) => {
  await writeCredentials(config, credentials('http://localhost:3000', 1))
  const found = await readCredentials(config, 'http://[::1]:3000')
  assert.equal([found?.server, found?.login?.token], ['http://[::1]:3000', 'token of http://localhost:3000'])
  await writeCredentials(config, found!)
  assert.is(readdirSync(join(config, 'servers')).length, 1)
})

const unreadable: Readonly<Record<string, readonly [file: string, text: string]>> = {
  'under the name of another address': [
    'http://localhost:3000',
    JSON.stringify(credentials('http://localhost:3000', 1)),
  ],
  'without the time of its login': [
    'http://127.0.0.1:3000',
    JSON.stringify(credentials('http://127.0.0.1:3000', 1)).replace(',"at":1', ''),
  ],
  'that is damaged': ['http://127.0.0.1:3000', '{"server":'],
}

for (const [what, [name, text]] of Object.entries(unreadable))
  test(`a login ${what} is refused by the name of its file, which stays`, ({ config, env }) => {
    const file = join(config, 'servers', `${digest(name)}.json`)
    mkdirSync(join(config, 'servers'), { recursive: true })
    writeFileSync(file, text)
    assert.throws(
      () => serverAddress('https://a.example', env),
      (error: Error) => error.message.startsWith(`${file} is no login`) && error.message.includes('log in again'),
    )
    assert.is(readFileSync(file, 'utf8'), text)
  })

test('without --server and TRACEBOOK_URL the server is that of the last login', async ({ config, env }) => {
  assert.is(serverAddress(undefined, env), 'http://127.0.0.1:3000')
  await writeCredentials(config, credentials('https://b.example', 2))
  await writeCredentials(config, credentials('https://a.example', 1))
  assert.is(serverAddress(undefined, env), 'https://b.example')
  assert.is(serverAddress(undefined, { ...env, TRACEBOOK_URL: 'https://c.example/' }), 'https://c.example')
  assert.is(serverAddress('https://d.example', { ...env, TRACEBOOK_URL: 'https://c.example' }), 'https://d.example')
})

test('after the last logout the server is one that the user was logged in to', async ({ config, env }) => {
  for (const [server, at] of [
    ['https://a.example', 1],
    ['https://b.example', 2],
  ] as const)
    await writeCredentials(config, credentials(server, at))
  await removeLogin(config, 'https://b.example')
  assert.is(serverAddress(undefined, env), 'https://a.example')
  await removeLogin(config, 'https://a.example')
  assert.ok(['https://a.example', 'https://b.example'].includes(serverAddress(undefined, env)))
})

test('an address without a scheme is refused, and the error suggests the complete address', () => {
  for (const [wrong, meant] of [
    ['localhost:21100', /Did you mean http:\/\/localhost:21100\?/],
    ['127.0.0.1:3000', /Did you mean http:\/\/127\.0\.0\.1:3000\?/],
    ['traces.example.org', /Did you mean https:\/\/traces\.example\.org\?/],
    ['ftp://traces.example.org', /begins with http:\/\/ or https:\/\//],
  ] as const)
    assert.throws(() => serverAddress(wrong, {}), meant)
})

test.run()
