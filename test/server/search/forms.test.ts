import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { indexed, openSearch } from './support/open-search.ts'

const test = suite('search: characters, however they are written')

const { app, write, search } = await openSearch(test)

await write('composed', ["학점인정 größe Café パピプペポ error テスト file and don't stop"])
await write('decomposed', ['학점인정 größe Café パピプペポ'.normalize('NFD')])
await write('wide', ['ｅｒｒｏｒ ﾃｽﾄ ﾊﾟﾝ and a ﬁle; don’t stop'])
await write('code', [
  'git push --force-with-lease; npm ci --ignore-scripts; TypeError: cannot read C:\\Users\\dev\\shop @shop/cart-core main.cpp:42',
  'std::vector a->b status:500 error-401 0xDEADBEEF v1.2.3-rc.1 #4711 61.2% ops@example.org https://docs.example.org/errors/E1234',
])
await indexed(app)

const found = async (q: string) =>
  (await search(`q=${encodeURIComponent(q)}`)).results.map(({ trace }) => trace.externalId).sort()

test('composed and decomposed, full-width and half-width, ligatures and apostrophes', async () => {
  for (const word of ['학점인정', 'größe', 'Café', 'パピプペポ'])
    for (const typed of [word.normalize('NFC'), word.normalize('NFD')])
      assert.equal(await found(typed), ['composed', 'decomposed'], word)
  for (const typed of ['error', 'ｅｒｒｏｒ']) assert.equal(await found(`${typed} テスト`), ['composed', 'wide'], typed)
  for (const typed of ['ﾃｽﾄ', 'file', 'ﬁle', 'don’t', "don't", '"don’t stop"'])
    assert.equal(await found(typed), ['composed', 'wide'], typed)
  assert.equal(await found('パン'), ['wide'])
})

test('marks are where the characters stand in the text itself', async () => {
  for (const typed of ['error', 'テスト', 'パン', 'file']) {
    const { results } = await search(`q=${encodeURIComponent(typed)}`)
    const { snippet } = results.find(({ trace }) => trace.externalId === 'wide')!.hits[0]!
    const [[start, end]] = snippet.marks as [[number, number]]
    assert.is(snippet.text.slice(start, end).normalize('NFKC'), typed)
  }
})

test('flags, addresses and code, as they stand in the text; a minus excludes only before a letter, a digit or a quotation mark', async () => {
  for (const typed of [
    ...['--force-with-lease', '--ignore-scripts', 'git push --force-with-lease', '"npm ci --ignore-scripts"'],
    ...[
      'TypeError: cannot read',
      '@shop/cart-core',
      'C:\\Users\\dev\\shop',
      'main.cpp:42',
      '#4711',
      '61.2%',
      'std::vector',
    ],
    ...['https://docs.example.org/errors/E1234', 'ops@example.org', 'a->b', 'status:500', 'error-401', '0xDEADBEEF'],
    'v1.2.3-rc.1',
  ])
    assert.equal(await found(typed), ['code'], typed)
  assert.equal(await found('don’t -decomposed -ｅｒｒｏｒ'), [])
  assert.equal(await found('don’t -パン'), ['composed'])
})

test.run()
