import { Session } from 'node:inspector/promises'
import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openWorld, signIn } from '../../../support/world.ts'

const test = suite('the way of a message')
const root = new URL('../../../../', import.meta.url)
const { node } = await openWorld(test, { env: { RATE_LIMITS: 'on', EVENTSTORE_URL: '' } })

const [, heading = '', section = ''] =
  /^## The way of a message: (\d+) files\n([^]*?)^## /m.exec(
    readFileSync(new URL('src/server/trace/messages/README.md', root), 'utf8'),
  ) ?? []
const pathOf = (name: string) => (name.startsWith('projections/') ? name : `src/${name}`)
const named = [...new Set([...section.matchAll(/`((?:[\w-]+\/)+[\w-]+\.ts)`/g)].map(([, name]) => pathOf(name!)))]

/** Runs on a thread only, or has no function. */
const NOT_SEEN = new Set(['src/server/http/body-tasks.ts', 'projections/index.ts'])

type Coverage = {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[]
  }[]
}

/** The files in which a function is called during `work`. */
const running = async (work: () => Promise<void>): Promise<ReadonlySet<string>> => {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await work()
  const { result } = (await session.post('Profiler.takePreciseCoverage')) as unknown as Coverage
  session.disconnect()
  const isCalled = ({ functions }: Coverage['result'][number]) => functions.some(({ ranges }) => ranges[0]!.count > 0)
  return new Set(result.filter(isCalled).map(({ url }) => url.slice(root.href.length)))
}

test('has as many files as its heading says', () => assert.is(named.length, Number(heading)))

test('goes through each file that is named', async () => {
  const { ask, send } = await signIn(node)
  const found = await running(async () => {
    const message = { role: 'user', textContent: 'hi', parts: [{ type: 'text', content: { text: 'hi' } }] }
    const write = (method: 'PUT' | 'POST', path: string, body: object) => send(method, `/v1/traces/t${path}`, body)
    await write('PUT', '', {})
    await ask('PUT', '/v1/traces/none/messages/m', message)
    await write('PUT', '/messages/m', message)
    const messages = Array.from({ length: 40 }, (_, i) => ({ ...message, externalId: `m${i}` }))
    for (const count of [2, 40]) await write('POST', '/messages/batch', { messages: messages.slice(0, count) })
    await write('PUT', '/messages/m', { ...message, parts: [{ type: 'text', content: { text: 'again' } }] })
  })
  assert.equal(
    named.filter((file) => !found.has(file) && !NOT_SEEN.has(file)),
    [],
  )
})

test.run()
