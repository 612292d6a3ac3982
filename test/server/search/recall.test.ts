import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { SearchAnswer } from '../../../src/contract/search.ts'
import { indexed, openSearch } from './support/open-search.ts'
import { runs } from '../../support/runs.ts'

const test = suite('search: all that matches is found, and nothing else')

const { app, write, search } = await openSearch(test)

const root = join(import.meta.dirname, '../../../src')
const chinese = ['修复登录页面的错误', '登录之后页面没有刷新', 'ログインのエラーを直す', '로그인 오류를 고쳤다']
/** Texts that people wrote: sources, and sentences without spaces. */
const texts = [
  ...globSync('{server/search,eventstore/engine,server/trace}/*.ts', { cwd: root })
    .sort()
    .map((file) => readFileSync(join(root, file), 'utf8').slice(0, 6_000)),
  ...chinese,
]
for (const [i, text] of texts.entries()) await write(`t${i}`, [text])
await indexed(app)

/** The same every time. */
const newRandom = (seed: number) => () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
  return seed / 2 ** 31
}
const random = newRandom(7)
const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!

const namesOf = (answer: SearchAnswer) => answer.results.map(({ trace }) => trace.externalId)
const quoted = (text: string) => encodeURIComponent(`"${text.replaceAll('"', '')}"`)

/** All traces that are found, page by page. */
const findAll = async (q: string): Promise<SearchAnswer[]> => {
  const pages = [await search(`q=${q}&limit=40`)]
  for (let next = pages[0]!.nextCursor; next; next = pages.at(-1)!.nextCursor)
    pages.push(await search(`q=${q}&limit=40&cursor=${next}`))
  return pages
}

/** Which texts have something that matches, by a scan of their own. */
const scan = (pattern: RegExp) => texts.flatMap((text, i) => (pattern.test(text) ? [`t${i}`] : []))
const escaped = (text: string) => text.replaceAll(/[^\p{L}\p{N}_]/gu, '\\$&')

const assertFound = async (wanted: string, q: string, pattern: RegExp) => {
  const pages = await findAll(q)
  const names = pages.flatMap(namesOf)
  assert.is(new Set(names).size, names.length, `${wanted}: a trace twice`)
  const missing = scan(pattern).filter((name) => !names.includes(name))
  assert.equal(missing, [], `${wanted} is not found in these`)
  for (const { trace, hits } of pages.flatMap(({ results }) => results))
    for (const { snippet } of hits) {
      assert.ok(snippet.marks.length > 0, `${wanted} in ${trace.externalId}`)
      for (const [start, end] of snippet.marks)
        assert.is(snippet.text.slice(start, end).toLowerCase(), wanted.toLowerCase().slice(0, end - start))
    }
}

const words = texts.flatMap((text) => text.match(/(?<![\p{L}\p{N}_$])[\p{L}\p{N}_$]{2,40}(?![\p{L}\p{N}_$])/gu) ?? [])

test('whole words are found', async () => {
  for (let i = 0; i < runs(40); i++) {
    const word = pick(words)
    const alone = `(?<![\\p{L}\\p{N}_$])${escaped(word)}(?![\\p{L}\\p{N}_$])`
    await assertFound(word, quoted(word), new RegExp(alone, 'iu'))
  }
})

test('identifiers are found in any case', async () => {
  const humps = words.filter((word) => /^[a-z]+([A-Z][a-z]+){2,}$/.test(word))
  for (let i = 0; i < runs(20); i++) {
    const word = pick(humps)
    const typed =
      i % 2 === 0 ? word.toLowerCase() : word.replaceAll(/[A-Z]/g, (one) => (random() < 0.5 ? one : one.toLowerCase()))
    await assertFound(
      typed,
      encodeURIComponent(typed),
      new RegExp(`(?<![\\p{L}\\p{N}_$])${word}(?![\\p{L}\\p{N}_$])`, 'iu'),
    )
  }
})

test('parts of identifiers are found', async () => {
  const humps = words.flatMap((word) => (/^[a-z]+([A-Z][a-z]+)+$/.test(word) ? [word] : []))
  for (let i = 0; i < runs(20); i++) {
    const part = pick(pick(humps).match(/[A-Z][a-z]+/g)!)
    await assertFound(part, encodeURIComponent(part), new RegExp(`[a-z]${part}(?=[A-Z]|(?![\\p{L}\\p{N}_$]))`, 'u'))
  }
})

test('pieces of paths are found', async () => {
  const paths = texts.flatMap((text) => text.match(/'\.\.\/[\w./-]+\.ts'/g) ?? [])
  for (let i = 0; i < runs(20); i++) {
    const piece = pick(paths).slice(1, -1).split('/').slice(-2).join('/')
    await assertFound(piece, encodeURIComponent(piece), new RegExp(`[/']${escaped(piece)}'`))
  }
})

test('pieces of Chinese, Japanese and Korean texts are found', async () => {
  for (let i = 0; i < runs(12); i++) {
    const characters = [...pick(chinese).split(' ')[0]!]
    const start = Math.floor(random() * (characters.length - 2))
    const piece = characters.slice(start, start + 2 + Math.floor(random() * 3)).join('')
    await assertFound(piece, encodeURIComponent(piece), new RegExp(escaped(piece)))
  }
})

test.run()
