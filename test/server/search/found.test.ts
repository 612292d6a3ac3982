import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { atOnce } from '../../../src/base/json/steps.ts'
import { findIn, newQuickTest } from '../../../src/server/search/found.ts'
import { readQuery } from '../../../src/server/search/query.ts'
import { textsOfMessage } from '../../../src/server/trace/tokens/message-texts.ts'
import type { TextPlace, SearchedText } from '../../../src/server/trace/tokens/searched-text.ts'
import { eachWord, neededTokens, tokensOf } from '../../../src/server/trace/tokens/words.ts'
import { clock } from './support/clock.ts'

const test = suite('finding the words of a query in texts')

const in_ = (place: TextPlace | 'trace', text: string): SearchedText => ({ place, text })
const prompt = (text: string) => in_('prompt', text)

/** What a query marks in texts, one line for each text. */
const marked = (query: string, ...texts: SearchedText[]) =>
  atOnce(findIn(texts, readQuery(query, clock)))?.map(({ text: { text }, marks }) =>
    marks.map(([from, to]) => text.slice(from, to)),
  )

test('a word is found as a whole word or a part of one, in upper and lower case', () => {
  for (const [query, text, expected] of [
    ['user', 'The USER of getUserName', [['USER', 'User']]],
    ['getusername', 'getUserName()', [['getUserName']]],
    ['error', 'errors, stderr', undefined],
    ['http/app', 'see src/http/app.ts', [['http/app']]],
    ['app.ts', 'see src/http/app.ts', [['app.ts']]],
    ['登录', '修复登录错误', [['登录']]],
    ['"no such file"', 'ENOENT: no such file or directory', [['no such file']]],
    ['"no such file"', 'no, such file', undefined],
    ['0a1b2c3', 'commit 0a1b2c3d4e5f60718', [['0a1b2c3']]],
    ['aa a', 'aa a aa', [['aa', 'a', 'aa']]],
    ['error', '\u001b[31merror\u001b[39m', [['error']]],
    ['"2 errors"', '2 \u001b[1merrors\u001b[0m', [['2 \u001b[1merrors']]],
    ['"done loading"', 'done\u001b[2K\u001b[1Gloading', undefined],
  ] as const)
    assert.equal(marked(query, prompt(text)), expected, `${query} in ${text}`)
})

test('all words must occur in one message, in any text that the query allows, and excluded words in none', () => {
  const texts = [prompt('one two'), in_('output', 'three')]
  assert.equal(marked('one three', ...texts), [['one'], ['three']])
  assert.equal(marked('one four', ...texts), undefined)
  assert.equal(marked('four OR three', ...texts), [['three']])
  assert.equal(marked('one -three', ...texts), undefined)
  assert.equal(marked('one -three in:prompt', ...texts), [['one']])
  assert.equal(marked('one in:output', ...texts), undefined)
  assert.equal(marked('three -in:output', ...texts), undefined)
  assert.equal(marked('in:output', ...texts), [[]])
  assert.equal(marked('in:answer', ...texts), undefined)
  assert.equal(marked('title', in_('trace', 'A title')), [['title']])
  assert.equal(marked('title in:prompt', in_('trace', 'A title')), undefined)
})

const words = fc.constantFrom(
  'get',
  'User',
  'HTTP',
  '_',
  '8',
  '修',
  '复',
  ' ',
  '/',
  '.',
  'é',
  '\u{20000}',
  '\ud800',
  'cafe1234567',
)
const someText = fc.array(words, { maxLength: 30 }).map((pieces) => pieces.join(''))

test('each text that is found has all tokens that the index is asked for', () => {
  const property = fc.property(someText, someText, (text, query) => {
    const parsed = readQuery(query, clock)
    if (!atOnce(findIn([prompt(text)], { ...parsed, excluded: [] }))) return
    const tokens = new Set<string>()
    eachWord(text.slice(0, 80), (word, isCjk) => tokensOf(word, isCjk).forEach((token) => tokens.add(token)))
    if (text.length > 80) return
    for (const alternatives of parsed.texts)
      assert.ok(
        alternatives.some((one) =>
          neededTokens(one).every((ways) => ways.some((all) => all.every((token) => tokens.has(token)))),
        ),
        `${query} in ${text}`,
      )
  })
  fc.assert(property, { numRuns: 10_000 })
})

test('the quick test passes all JSON whose texts hold what is asked for', () => {
  const escaped = (json: string) => json.replaceAll('/', '\\/').replaceAll('e', '\\u0065')
  const property = fc.property(someText, someText, fc.boolean(), (text, query, isEscaped) => {
    const content = { callId: 'c', toolName: 'bash', args: { command: text, count: 12 } }
    const json = JSON.stringify({ order: 0, type: 'tool_call', content })
    const parts = isEscaped ? escaped(json) : json
    const parsed = readQuery(query, clock)
    const texts = [...textsOfMessage({ role: 'assistant', text: null, parts })].flatMap((one) => one ?? [])
    if (atOnce(findIn(texts, parsed))) assert.ok(newQuickTest(parsed)(parts), `${query} in ${parts}`)
  })
  fc.assert(property, { numRuns: 5_000 })
  const test = newQuickTest(readQuery('"get user" -name', clock))
  assert.equal(['"get a user"', '"GET USER name"', '"get\\u0020user"'].map(test), [false, true, true])
})

test('no step searches more than one text', () => {
  const texts = Array.from({ length: 50 }, () => prompt('aa '.padEnd(20_000, 'a')))
  const work = findIn(texts, readQuery('aa OR ab -aaa', clock))
  let steps = 0
  while (!work.next().done) steps += 1
  assert.is(steps, 4 * texts.length)
})

test.run()
