import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { fitting, resultOf, withFewer } from '../../../src/server/mcp/answer.ts'
import { cutText, sharedBy } from '../../../src/server/mcp/quoted.ts'
import { visible } from '../../../src/transcript/visible.ts'

const test = suite('answers of tools')

const hostile = fc.string({
  unit: fc.constantFrom('a', 'ä', '😀', '登', '"', '\\', '\n', '\r', '\u001b', '\u202e', '\u0000', '\ud800', ' '),
  maxLength: 6_000,
})

test('a text is cut into pieces of limited size that together are the whole text', () => {
  fc.assert(
    fc.property(hostile, fc.integer({ min: 32, max: 4_096 }), (text, most) => {
      let [all, from] = ['', 0]
      while (from < text.length) {
        const { text: shown, end } = cutText(text, from, most)
        assert.ok(Buffer.byteLength(shown) <= most && end > from)
        all += shown
        from = end
      }
      assert.is(all, visible(text))
    }),
    { numRuns: 100 },
  )
})

const jsonBytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

test('a part of a text ends between graphemes, unless it is shorter than one', () => {
  const family = '👩‍👩‍👧‍👦'
  assert.equal(cutText(`${family}${family}`, 0, 40), { text: family, end: family.length })
  assert.ok(cutText(family, 0, 10).end < family.length)
})

test('both forms of an answer say the same: sentences, what was left out, and the quotations', () => {
  const quotes = fc.record(
    {
      quoted: fc.constant(true),
      session: hostile,
      list: fc.array(
        fc.record({ message: hostile.map(visible), text: hostile.map(visible) }, { noNullPrototype: true }),
        { maxLength: 4 },
      ),
    },
    { noNullPrototype: true },
  )
  fc.assert(
    fc.property(quotes, (quotes) => {
      const content = { total: { sessions: 2 }, quotes }
      const given = { intro: 'Some messages.', leftOut: ['others.'], content, links: [], through: 'now' }
      const { structuredContent, content: shown } = resultOf(given, 'later')
      assert.equal(structuredContent, {
        ...{ answer: 'Some messages.', leftOut: ['others.'], indexedThrough: 'now' },
        ...content,
      })
      const [intro, left, values, ...rest] = (shown[0] as { text: string }).text.split('\n')
      assert.equal([intro, left], ['Some messages.', 'Left out: others.'])
      assert.equal(JSON.parse(values!), { indexedThrough: 'now', total: { sessions: 2 } })
      assert.equal(JSON.parse(rest.join('\n')), quotes)
      assert.is(rest.length, quotes.list.length === 0 ? 1 : quotes.list.length + 2, 'an entry on each line')
    }),
    { numRuns: 50 },
  )
})

test('an answer names at most 10 pages, and none with a very long address', () => {
  const linksOf = (uris: readonly string[]) => {
    const links = uris.map((uri) => ({ uri, name: 'page' }))
    const { content } = resultOf({ intro: '', leftOut: [], content: { quotes: {} }, links }, 'now')
    return content.slice(1).map((link) => (link as { uri: string }).uri)
  }
  assert.is(linksOf(Array<string>(40).fill('http://x')).length, 10)
  assert.equal(linksOf(['http://x', `http://${'y'.repeat(3_000)}`]), ['http://x'])
})

test('of several levels the first is taken at which both forms fit, and fewer things are read where none does', async () => {
  const answerOf = (count: number, length: number) => ({
    intro: 'Texts.',
    leftOut: [],
    content: { quotes: { quoted: true, list: Array<string>(count).fill('"'.repeat(length)) } },
    links: [],
  })
  const levels = [1_000, 500, 100]
  const fitted = (count: number, most: number) =>
    fitting(levels, most, (length) => answerOf(count, length)).content.quotes.list
  assert.is(fitted(4, 20_000)[0]!.length, 1_000)
  assert.is(fitted(10, 22_000)[0]!.length, 500, 'a quotation mark has 4 bytes in the text')
  assert.is(fitted(1_000, 1_000)[0]!.length, 100)
  const asked: number[] = []
  const read = async (limit: number) => {
    asked.push(limit)
    return limit
  }
  const few = await withFewer(40, 5_000, read, (count) => fitting(levels, 5_000, (length) => answerOf(count, length)))
  assert.equal([asked, few.content.quotes.list.length], [[40, 20, 10], 10])
  const { content, structuredContent } = resultOf(few, 'now')
  assert.ok(jsonBytes(content) <= 5_000 && jsonBytes(structuredContent) <= 5_000)
})

test('what is the same in all objects is taken out of them', () => {
  const all = [
    { author: 'Ada', agent: 'a', text: 'x', model: undefined },
    { author: 'Ada', agent: 'b', text: 'x', model: undefined },
  ]
  const { shared, own } = sharedBy(all, ['author', 'agent', 'model'])
  assert.equal(shared, { author: 'Ada' })
  assert.equal(
    own.map(({ author, agent, text }) => [author, agent, text]),
    [
      [undefined, 'a', 'x'],
      [undefined, 'b', 'x'],
    ],
  )
  assert.equal(sharedBy(all.slice(1), ['author']), { shared: {}, own: all.slice(1) })
  assert.equal(sharedBy([], []), { shared: {}, own: [] })
})

test.run()
