import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newApiClient } from '../../../src/client/api/client.ts'
import { checkedSignInUrl, logInWithCodehost } from '../../../src/client/login/codehost-login.ts'
import { startServer } from '../support/server.ts'
import { ok } from '../support/service-world.ts'
import { tempFolder } from '../support/temp.ts'

const test = suite('the address that a browser is sent to')

const dangerous = [
  'file:///etc/passwd',
  'file://evil.example/share/run.desktop',
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vscode://install?url=evil',
  'ms-msdt:/id',
  'ftp://example.com/',
  'http://example.com/',
  'http://127.0.0.1.example.com/',
  'http://localhost.example.com/',
  'https://github.com@evil.example/',
  'http://',
  '--help',
  '/usr/bin/true',
  '',
]

const refusalOf = (said: string): string => {
  try {
    return assert.unreachable(checkedSignInUrl(said)) as never
  } catch (error) {
    assert.is((error as Error).name, 'RequestFailed', said)
    return (error as Error).message
  }
}

test('an https address, or an http address of this machine, is accepted and spelt in ASCII', () => {
  for (const said of [
    'https://codehost.example/login/oauth?client_id=a&state=b#c',
    'http://localhost:3000/a',
    'http://127.0.0.1:3000/a',
    'http://[::1]:3000/a',
  ])
    assert.is(checkedSignInUrl(said), said)
  assert.is(
    checkedSignInUrl('HTTPS://Example.com/\u001b[2J\u202e"\u2019'),
    'https://example.com/%1B[2J%E2%80%AE%22%E2%80%99',
  )
})

test('any other address is refused, and shown without terminal escapes', () => {
  for (const said of dangerous) assert.match(refusalOf(said), 'with https://, or with http:// on this machine')
  assert.match(refusalOf('file:///\u001b[2J'), 'got file:///\\u001b[2J: it is not opened')
})

test('for any answer of a server, no other address is opened, and nothing waits forever', async () => {
  const [server, { path, remove }] = [await startServer(), tempFolder()]
  const sent: string[] = []
  const prompts = {
    openSignInPage: (url: string) => void sent.push(url),
    askForCode: async () => 'code',
    confirm: async () => true,
  }
  for (const authorizeUrl of dangerous) {
    server.fault = () => ok({ state: 's', authorizeUrl })
    const login = { config: path, server: server.url, isLocal: true, prompts }
    const error = await logInWithCodehost(login, newApiClient).then(
      () => undefined,
      (reason: unknown) => reason as Error,
    )
    assert.match(error!.message, 'is not opened')
  }
  assert.equal(sent, [])
  await server.close()
  remove()
})

test.run()
