import { gunzipSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { callerOf, openWorld, signIn } from '../../support/world.ts'
import { listen } from '../../support/slow-reader.ts'
import { until } from '../../support/until.ts'

const test = suite('export: pages that were made to stop the service')

const { node } = await openWorld(test, { env: { TRUST_PROXY: 'loopback', SUMMARY_PROVIDER: 'none' } }) // a summary would change the trace
const port = await listen(node)

/** How many files of public traces were made, because the cache did not have them. */
let madeFiles = 0
const { publicFiles } = node.service
const { begin } = publicFiles
publicFiles.begin = (...version) => {
  madeFiles += 1
  return begin(...version)
}

const owner = await signIn(node)
const { send } = owner
const newTrace = (messages: readonly object[], visibility = 'public') =>
  owner.newTrace({ title: 'Shown', visibility }, messages)

/** A GET of somebody without a session, from an address of his own. */
const get = async (path: string, from = '203.0.113.1') => {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-forwarded-for': from } })
  return { status: answer.status, text: await answer.text() }
}

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** A shorter round of the event loop only waits. */
const LEAST_ROUND_MS = 1

/** Does something, and measures in CPU time how long the event loop took for the longest of its rounds, and for all in which it did anything. */
const measured = async <T>(work: () => Promise<T>) => {
  let [longest, all, before, goesOn] = [0, 0, cpuMs(), true]
  const look = () => {
    const now = cpuMs()
    const round = now - before
    longest = Math.max(longest, round)
    if (round >= LEAST_ROUND_MS) all += round
    before = now
    if (goesOn) setImmediate(look)
  }
  setImmediate(look)
  const value = await work()
  goesOn = false
  return { value, longest, all }
}

const message = (externalId: string, part: object) => ({ externalId, role: 'assistant', parts: [part] })
const output = (text: string) => ({
  type: 'tool_result',
  content: { callId: 'c', toolName: 't', output: text, status: 'success' },
})
const text = (words: string) => ({ type: 'text', content: { text: words } })
const shortRows = `${'a|'.repeat(2_000)}\n${'-|'.repeat(2_000)}\n${'a\n'.repeat(300)}`

/**
 * The largest share of the work that may be done in one round: without pauses it would be nearly all. How long a round takes has to be measured,
 * because nothing else tells how long others wait for it; but only beside the other rounds, so that it does not matter how fast the machine is.
 */
const MOST_OF_WORK = 1 / 2

for (const [name, messages] of [
  ['a result of 400,000 sequences without text', [message('m', output('\u001b[1m'.repeat(400_000)))]],
  ['tables whose rows are short', Array.from({ length: 60 }, (_, i) => message(`m${i}`, text(shortRows)))],
  ['an open fence with 300,000 lines', [message('m', text(`\`\`\`\n${'x\n'.repeat(300_000)}`))]],
] as const)
  test(`${name}: other requests are answered while the page is made`, async () => {
    const small = await newTrace([message('m', text('hello'))])
    const { page } = await newTrace(messages)
    await get(small.url) // what is done once is done
    let isMade = false
    const others = async () => {
      while (!isMade) {
        const { status } = await get(small.url, '198.51.100.7')
        assert.is(status, 200)
      }
    }
    const { value, longest, all } = await measured(async () => {
      const asked = get(page).finally(() => (isMade = true))
      await others()
      return asked
    })
    assert.is(value.status, 200)
    assert.match(value.text, /<\/html>\n$/)
    assert.ok(longest < all * MOST_OF_WORK, `a round of ${Math.round(longest)} ms, of ${Math.round(all)} ms`)
  })

const prose = Array.from({ length: 40 }, (_, i) =>
  message(`m${i}`, text(`${'*a* **b** [c](d) '.repeat(500)}\n\n`.repeat(2))),
)

test('a second request for the page of a public trace gets it from the cache', async () => {
  const { url, page } = await newTrace(prose)
  for (const path of [page, `${url}/export?format=md`]) {
    const before = madeFiles
    const first = await get(path)
    assert.is(madeFiles, before + 1)
    // While the node does not follow the log, as on a busy machine, the cache is not used.
    await until(async () => {
      const already = madeFiles
      assert.equal(await get(path, '198.51.100.8'), first)
      return madeFiles === already
    })
  }
})

test('a cached page is compressed for who takes that', async () => {
  const { url, page } = await newTrace(prose.slice(0, 10))
  const ask = (accepted: string) => callerOf(node).open(page, { 'accept-encoding': accepted })
  const { body: whole } = await ask('')
  for (const accepted of ['', 'br', 'gzip;q=0']) assert.is((await ask(accepted)).body, whole)
  for (const _ of [1, 2]) {
    const { headers, rawPayload } = await ask('br, gzip')
    assert.is(headers['content-encoding'], 'gzip')
    assert.match(String(headers['vary']), /accept-encoding/i)
    assert.ok(rawPayload.length < whole.length / 8)
    assert.is(gunzipSync(rawPayload).toString(), whole)
  }
  const own = await owner.get(page, { 'accept-encoding': 'gzip' })
  assert.is(own.headers['content-encoding'], undefined)
  await send('PATCH', url, { visibility: 'private' })
  assert.is((await ask('gzip')).statusCode, 401)
})

test('a cached page is not sent to callers who may not read its trace, or after a change of the trace', async () => {
  const { url, page } = await newTrace([message('m', text('first words'))])
  const kept = async () => {
    const { text: shown } = await get(page)
    assert.is((await get(page)).text, shown)
    return shown
  }
  assert.match(await kept(), 'first words')
  await send('PATCH', url, { title: 'Another title' })
  assert.match(await kept(), 'Another title')
  await send('PUT', `${url}/messages/m`, message('m', text('second words')))
  assert.not.match(await kept(), 'first words')
  await send('PATCH', url, { visibility: 'private' })
  assert.is((await get(page)).status, 401)
  const own = await owner.get(page)
  assert.match(own.body, 'second words')
  assert.is((await get(page)).status, 401)
  await send('PATCH', url, { visibility: 'public' })
  assert.match(await kept(), 'second words')
  await send('DELETE', url)
  assert.is((await get(page)).status, 404)
})

test.run()
