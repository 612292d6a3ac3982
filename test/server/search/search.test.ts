import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup, timelineGroup } from '../../../projections/index.ts'
import { openSearch } from './support/open-search.ts'

const test = suite('search')

const { openNode, token, send, write, find, search } = await openSearch(test)

const output = (text: string, status = 'success') => ({
  role: 'user',
  parts: [{ type: 'tool_result', content: { callId: 'c', toolName: 'bash', output: text, status } }],
})

test('a message is found by its words, and no longer after they have changed', async () => {
  await write('changed', ['first', output('an apple')], { title: 'A basket', projectName: 'orchard' })
  assert.equal(await find('apple'), ['changed'])
  assert.equal(await find('basket'), ['changed'])
  await send('PUT', '/v1/traces/changed/messages/m1', output('a pear'))
  await send('PUT', '/v1/traces/changed', { title: 'A bowl', projectName: 'garden' })
  assert.equal([await find('apple'), await find('basket'), await find('project:orchard')], [[], [], []])
  assert.equal(
    [await find('pear'), await find('bowl'), await find('pear project:garden')],
    [['changed'], ['changed'], ['changed']],
  )
})

test('a deleted trace is no longer found at once, and is found if it is written again', async () => {
  await write('deleted', ['a cherry'])
  assert.equal(await find('cherry'), ['deleted'])
  await send('DELETE', '/v1/traces/deleted')
  assert.equal((await search('q=cherry')).results, [])
  assert.equal(await find('cherry'), [])
  await write('deleted', ['a plum'])
  assert.equal([await find('cherry'), await find('plum')], [[], ['deleted']])
})

test('a trace is found by its present texts after its past was erased', async () => {
  await write('erased', ['a quince', 'a fig'])
  await send('PUT', '/v1/traces/erased/messages/m0', { role: 'user', textContent: 'a medlar' })
  await send('POST', '/v1/traces/erased/history/erase')
  assert.equal([await find('quince'), await find('medlar'), await find('fig')], [[], ['erased'], ['erased']])
  await send('PUT', '/v1/traces/erased/messages/m1', { role: 'user', textContent: 'a date' })
  assert.equal([await find('fig'), await find('date')], [[], ['erased']])
})

test('a hit has its place; the best hits come first, at most three of a trace', async () => {
  const at = Date.now()
  await write('hits', [
    { role: 'assistant', timestamp: at, parts: [{ type: 'thinking', content: { text: 'the walnut' } }] },
    ...Array.from({ length: 4 }, (_, i) => output(`walnut ${i}`)),
  ])
  await find('walnut')
  const [result] = (await search('q=walnut')).results
  assert.equal(result!.hits[0], {
    ...{ messageExternalId: 'm0', ordinal: 0, role: 'assistant', part: 0, in: 'thinking', at },
    snippet: { text: 'the walnut', marks: [[4, 10]] },
  })
  assert.equal([result!.hits.length, result!.more], [3, 2])
})

test('a hit in the trace itself has the time of the session, and is left out where a message that is shown says the same', async () => {
  const [startedAt, at] = [Date.UTC(2026, 0, 2), Date.UTC(2026, 0, 3)]
  const prompt = (text: string, timestamp = at) => ({ role: 'user', timestamp, textContent: text })
  const hello = prompt('Hello', startedAt)
  await write('titled', [hello, prompt('Where is  the\nKOHLRABI patch?')], { title: 'Where is the kohlrabi…' })
  await write('other', [hello, prompt('a kohlrabi')], { title: 'Of kohlrabi' })
  await find('kohlrabi')
  const { results } = await search('q=kohlrabi')
  const seen = results.map(({ trace, hits, more }) => [
    trace.externalId,
    more,
    ...hits.map(({ in: place, at }) => [place, at]),
  ])
  assert.equal(seen.sort(), [
    ['other', 0, ['trace', startedAt], ['prompt', at]],
    ['titled', 0, ['prompt', at]],
  ])
})

test('a hit in the trace itself, and a listed trace, are dated by the session, whenever it was uploaded', async () => {
  const prompt = (text: string, timestamp: number) => ({ role: 'user', timestamp, textContent: text })
  for (const [name, at] of [
    ['early', Date.UTC(2026, 4, 5, 23)],
    ['late', Date.UTC(2026, 4, 7, 1)],
  ] as const)
    await write(name, [prompt(`a salsify ${name}`, at), prompt('salsify once more', at + 1)], {
      ...{ title: `Of salsify`, agentId: 'gardener' },
    })
  await find('salsify')
  const found = async (q: string) => {
    const { results, total } = await search(`q=${encodeURIComponent(q)}`)
    const hits = results.map(({ trace, hits, more }) => [trace.externalId, hits.length + more])
    return [total.value, ...hits.toSorted()]
  }
  for (const words of ['salsify', '"of salsify"', 'agent:gardener']) {
    const each = { salsify: 3 }[words] ?? 1
    assert.equal(await found(words), [2, ['early', each], ['late', each]])
    assert.equal(await found(`${words} from:2026-05-06`), [1, ['late', each]])
    assert.equal(await found(`${words} to:2026-05-06`), [1, ['early', each]])
    assert.equal(await found(`${words} from:2026-05-05 to:2026-05-06`), [1, ['early', each]])
    assert.equal(await found(`${words} since:2w`), [0])
  }
})

test('a message with a time too far ahead counts as when it came', async () => {
  const before = Date.now()
  await write('ahead', [
    { role: 'user', timestamp: Date.UTC(2099), parts: [{ type: 'text', content: { text: 'a loquat' } }] },
  ])
  await find('loquat')
  const { at } = (await search('q=loquat')).results[0]!.hits[0]!
  assert.ok(at >= before && at <= Date.now())
  assert.equal(await find('loquat', '&from=2098-01-01T00:00:00Z'), [])
})

test('without words traces are listed, the latest first', async () => {
  await write('listed-1', ['x'], { agentId: 'lister' })
  await write('listed-2', ['x'], { agentId: 'lister' })
  assert.equal(await find('agent:lister'), ['listed-2', 'listed-1'])
  assert.equal(await find('', '&agent=lister&role=user'), ['listed-2', 'listed-1'])
})

test('facets count traces; a limit of none shows none', async () => {
  await write('facets-1', ['a hazelnut', 'a hazelnut'], { agentId: 'one' })
  await write('facets-2', [output('hazelnut', 'error')], { agentId: 'two' })
  await write('facets-3', ['a hazelnut'], { agentId: 'one' })
  assert.equal(await find('hazelnut has:error'), ['facets-2'])
  const { facets, total, results } = await search('q=hazelnut&facets=agent,role&limit=0')
  assert.equal([results, total], [[], { value: 3, exact: true }])
  assert.equal(facets, {
    agent: [
      { value: 'one', count: 2 },
      { value: 'two', count: 1 },
    ],
    role: [{ value: 'user', count: 3 }],
  })
})

test('a trace with very many hits does not hide other traces', async () => {
  await write('before-it', ['pomegranate'])
  await write(
    'full',
    Array.from({ length: 700 }, (_, i) => `pomegranate ${i}`),
  )
  assert.equal((await find('pomegranate', '&sort=newest')).toSorted(), ['before-it', 'full'])
})

test('all pages together show each trace once, even if traces are written meanwhile', async () => {
  for (let i = 0; i < 12; i++) await write(`page-${i}`, ['a persimmon', `persimmon ${i}`])
  await send('PUT', '/v1/traces/page-3/messages/late', { role: 'user', textContent: 'a later persimmon' })
  await find('persimmon')
  for (const sort of ['newest', 'relevance']) {
    const names: string[] = []
    let cursor = ''
    do {
      const { results, nextCursor = '' } = await search(
        `q=persimmon&limit=5&sort=${sort}${cursor && `&cursor=${cursor}`}`,
      )
      names.push(...results.map(({ trace }) => trace.externalId))
      cursor = nextCursor
      // What was not shown yet comes to the front, in its place in the index.
      await send('PUT', `/v1/traces/page-${names.length % 12}`, { title: `a persimmon ${sort} ${names.length}` })
      await send('PUT', '/v1/traces/page-0/messages/more', {
        role: 'user',
        textContent: `a persimmon on page ${names.length}`,
      })
    } while (cursor)
    assert.equal(names.length, 12, names.join())
    assert.is(new Set(names).size, 12)
  }
})

/** The externalIds of the traces of all pages, in order. */
const onAllPages = async (query: string): Promise<string[]> => {
  const names: string[] = []
  let cursor = ''
  do {
    const { results, nextCursor = '' } = await search(`${query}${cursor && `&cursor=${cursor}`}`)
    names.push(...results.map(({ trace }) => trace.externalId))
    cursor = nextCursor
  } while (cursor)
  return names
}

test('all pages together show each trace that has a word, or that has not another, once', async () => {
  const traces = Array.from({ length: 40 }, (_, i) => `apricot-${i}`)
  for (const [i, name] of traces.entries()) {
    const messages = Array.from({ length: 1 + (i % 20) }, (_, n) => `${n} apricot${i % 4 === 0 ? ' kiwi' : ''}`)
    await write(name, i % 3 === 0 ? [...messages, output('apricot')] : messages)
  }
  await find('apricot')
  const without = traces.filter((_, i) => i % 4 !== 0 || i % 3 === 0)
  for (const sort of ['newest', 'relevance']) {
    assert.equal((await onAllPages(`q=apricot&limit=7&sort=${sort}`)).toSorted(), traces.toSorted())
    assert.equal((await onAllPages(`q=apricot%20-kiwi&limit=7&sort=${sort}`)).toSorted(), without.toSorted())
  }
  const [{ hits, more } = { hits: [], more: 0 }] = (await search('q=apricot&sort=newest')).results
  assert.equal([hits.length, more], [3, 9]) // twelve of twenty-one
})

test('the first megabyte of a large message is searched', async () => {
  const part = (text: string) => ({ type: 'text', content: { text } })
  const filling = Array.from({ length: 110 }, (_, i) => part(`filling ${i} ${'-'.repeat(20_000)}`))
  for (const i of [0, 1, 2])
    await write(`large-${i}`, [
      { role: 'user', parts: [part('an early starfruit'), ...filling, part('a late tamarind')] },
    ])
  assert.equal((await find('starfruit')).toSorted(), ['large-0', 'large-1', 'large-2'])
  assert.equal(await find('tamarind'), [])
})

test('without the index, only the search is unavailable', async () => {
  const other = await openNode({ groups: [mainGroup, timelineGroup] })
  assert.is((await other.call('GET', '/v1/search?q=x', { token })).status, 503)
  assert.is((await other.call('GET', '/v1/feed', { token })).status, 200)
  assert.equal((await other.service.readiness()).missing, [])
})

test('a trace whose title has the word comes first, however many of its messages have it as well', async () => {
  await write(
    'titled',
    Array.from({ length: 60 }, (_, i) => `${i} quince`),
    { title: 'About quinces: quince' },
  )
  await write(
    'untitled',
    Array.from({ length: 3 }, (_, i) => `${i} quince`),
  )
  assert.equal(await find('quince'), ['titled', 'untitled'])
  const { results } = await search('q=quince')
  assert.is(results[0]!.hits[0]!.in, 'trace')
})

test.run()
