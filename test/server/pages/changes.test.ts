import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { prepareScripts } from '../../../src/server/pages/assets.ts'
import { type ChangesPage, restOfChanges, startOfChanges } from '../../../src/server/pages/changes.ts'
import type { Changes, MadeEdit } from '../../../src/transcript/changes.ts'
import type { Edit } from '../../../src/transcript/edits.ts'
import { headOf } from '../../../src/transcript/head.ts'
import { visible, visibleLine } from '../../../src/transcript/visible.ts'
import { elementsOf, textOf } from '../../transcript/support/elements.ts'
import { hostileText } from '../../transcript/support/hostile.ts'

const test = suite('pages: what a session changed')
await prepareScripts((error) => assert.unreachable(String(error)))

const pageOf = (words: string): ChangesPage => ({
  slug: words,
  externalId: words,
  project: words,
  head: headOf(new Map([['title', words]])),
  viewer: { user: undefined, isKnown: true, theme: undefined, hasKeys: true, path: '/' },
})

const made = (words: string, edit: Edit | undefined, failure?: string): MadeEdit => ({
  messageId: words,
  timestamp: 1_767_366_245_000,
  prompt: 2,
  edit,
  added: 1,
  removed: 1,
  failure,
})

const changesOf = (path: string | undefined, ...edits: readonly MadeEdit[]): Changes => ({
  files: [{ path, edits, added: 3, removed: 1 }],
  changed: 1,
  edits: edits.length,
  failed: 1,
  left: 1,
  added: 3,
  removed: 1,
})

const sourceOf = (changes: Changes, page: ChangesPage) =>
  [startOfChanges(page), ...restOfChanges(changes, page)].map(({ source }) => source).join('')

/** A page with words in each place that takes text. */
const full = (words: string) => {
  const edits: Edit[] = [
    { is: 'replacement', path: words, before: `${words}1`, after: `${words}2` },
    { is: 'content', path: words, content: words },
    { is: 'patch', path: words, patch: `@@ -1 +1 @@ ${words}`, added: 0, removed: 0 },
    { is: 'unknown', path: words },
  ]
  const all = [...edits.map((edit) => made(words, edit)), made(words, undefined), made(words, edits[1], visibleLine(words))] // prettier-ignore
  return sourceOf(changesOf(words, ...all), pageOf(words))
}

/** Of these there are as many as a text has lines, words and slashes, and runs of unchanged lines that are folded. */
const ofText = new Set(['wbr', 'tr', 'td', 'span', 'del', 'ins', 'a href data-fold'])

const tagsOf = (source: string) =>
  elementsOf(source)
    .filter(({ tagName }) => !ofText.has(tagName))
    .map(({ tagName, attrs }) => [tagName, ...attrs.map(({ name }) => name)].join(' '))
    .filter((tag) => !ofText.has(tag))

test('any text in any place of the page stays text, and is shown', () => {
  const harmless = tagsOf(full('words'))
  fc.assert(
    fc.property(hostileText, (text) => {
      const words = `begin${text}end`
      const source = full(words)
      assert.equal(tagsOf(source), harmless)
      const shown = textOf(elementsOf(source)[0]!)
      for (const line of visible(words).split('\n')) assert.ok(shown.includes(line), line)
    }),
    { numRuns: 40, examples: [['\n===\n\n===\n\n\n+added\n']] }, // of so many lines that they are folded
  )
})

test('the page of a session without changes says so', () => {
  const none: Changes = { files: [], changed: 0, edits: 0, failed: 0, left: 0, added: 0, removed: 0 }
  const source = sourceOf(none, pageOf('words'))
  assert.match(source, 'This session changed no files that its tool calls show.')
  assert.not.match(source, 'id="outline"')
  elementsOf(source)
})

test('an edit of many lines is cut, and a link leads to the rest', () => {
  const content = Array.from({ length: 900 }, (_, i) => `line ${i}`).join('\n')
  const source = sourceOf(changesOf('a', made('m/1', { is: 'content', path: 'a', content })), pageOf('x'))
  assert.match(source, /line 399<\/(?:span|td)>/)
  assert.not.match(source, 'line 400<')
  assert.match(source, '<a href="/@x/x/-/message/m%2F1">Show 500 more lines</a>')
})

test('an edit without a file, or without a known change, says so', () => {
  assert.match(sourceOf(changesOf(undefined, made('m', { is: 'unknown', path: undefined })), pageOf('x')), 'A file that is not named') // prettier-ignore
  assert.match(sourceOf(changesOf('a', made('m', { is: 'unknown', path: 'a' })), pageOf('x')), 'does not tell which lines') // prettier-ignore
  const same: Edit = { is: 'replacement', path: 'a', before: '1', after: '1' }
  assert.match(sourceOf(changesOf('a', made('m', same)), pageOf('x')), 'No lines are changed')
  assert.match(sourceOf(changesOf('a', made('m', undefined)), pageOf('x')), 'Too long to be shown here')
})

test.run()
