import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { elementsOf } from '../../transcript/support/elements.ts'
import { sharedWorld, signIn } from '../../support/world.ts'

const test = suite('web: addresses of sessions and messages')

const { node } = await sharedWorld()
const server = await node.app.listen({ host: '127.0.0.1', port: 0 })
const { token, namespaceSlug } = await signIn(node, 'a-device')

/** As a browser asks, which takes `.` and `..` in a path for other places, also if they are encoded. */
const get = async (path: string) => {
  const answer = await fetch(new URL(path, server), {
    headers: { accept: 'text/html', authorization: `Bearer ${token}` },
  })
  return { status: answer.status, body: await answer.text() }
}

/** A client that is no browser sends a path as it is. */
const api = async (method: string, path: string, body: object): Promise<number | undefined> => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const { hostname, port } = new URL(server)
  const asked = request({ hostname, port, method, path, headers }).end(JSON.stringify(body))
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  answer.resume()
  return answer.statusCode
}

const output = Array.from({ length: 200 }, (_, i) => `line ${i + 1}`).join('\n')
const call = { type: 'tool_call', content: { callId: 'c', toolName: 'Bash', args: { command: 'cat log' } } }
const result = { type: 'tool_result', content: { callId: 'c', toolName: 'Bash', output, status: 'success' } }
const edit = {
  type: 'tool_call',
  content: { callId: 'e', toolName: 'Edit', args: { file_path: '/a.ts', old_string: 'a', new_string: 'b' } },
}

const ids = {
  '.': '.',
  '..': '..',
  '~.': '~.',
  'the longest': '修'.repeat(1_024),
  'the longest of emoji': '😀'.repeat(1_024),
}

for (const [what, id] of Object.entries(ids))
  test(`each link from the list to a session and on to its messages leads there: ${what}`, async () => {
    const at = `/v1/traces/${encodeURIComponent(id)}`
    assert.is(await api('PUT', at, { title: `Named ${what}`, visibility: 'public' }), 200)
    const messages = [{ externalId: id, role: 'assistant', parts: [call, result, edit] }]
    assert.is(await api('POST', `${at}/messages/batch`, { messages }), 200)

    const linksIn = (body: string, pattern: RegExp) =>
      elementsOf(body)
        .flatMap(({ attrs }) => attrs.filter(({ name }) => name === 'href' || name === 'action'))
        .flatMap(({ value }) => (pattern.test(value) ? [value] : []))
    const { body: list } = await get(`/@${namespaceSlug}`)
    const [path = ''] = elementsOf(list)
      .filter(({ attrs }) => attrs.some(({ name, value }) => name === 'class' && value === 'name'))
      .flatMap(({ attrs }) => attrs.filter(({ name }) => name === 'href'))
      .map(({ value }) => value)
      .filter((_, i) => i === 0)
    const session = await get(path)
    assert.match(session.body, `Named ${what}`)
    const own = linksIn(session.body, /^\/(?:@|oembed)/).filter(
      (link) => link.startsWith(path) || /^\/oembed/.test(link),
    )
    for (const page of ['changes', 'message', 'visibility', 'delete', 'oembed'])
      assert.ok(
        own.some((link) => link.includes(page)),
        page,
      )
    for (const link of own) {
      const { status, body } = await get(link)
      assert.is(status, 200, link.slice(0, 60))
      assert.ok(body.includes(`Named ${what}`) || body.includes('line 150'), link.slice(-60))
    }
    assert.match((await get(`${path}?m=${encodeURIComponent(id)}`)).body, 'aria-current="true"')
  })

test.run()
