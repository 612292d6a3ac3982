import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { cleanPrompt } from '../../../src/server/summary/clean-prompt.ts'
import type { Turn } from '../../../src/server/summary/turns.ts'
import { extractSummary } from '../../../src/server/summary/extract.ts'
import { buildPrompt } from '../../../src/server/summary/prompt.ts'
import { shorten } from '../../../src/server/summary/shorten.ts'

const test = suite('extract')

const asks = (text: string): Omit<Turn, 'place'> => ({ role: 'user', class: 'user_message', text, tools: [] })
const says = (text: string): Omit<Turn, 'place'> => ({ role: 'assistant', class: 'agent_text', text, tools: [] })
const session = (...turns: Omit<Turn, 'place'>[]) => ({
  messageCount: turns.length,
  turns: turns.map((turn, i) => ({ ...turn, place: i + 1 })),
})
const titleOf = (...prompts: string[]) => extractSummary(session(...prompts.map(asks))).title

/** First prompts as agents record them, and the title that each makes. */
const titles: readonly (readonly [prompt: string, title: string | undefined])[] = [
  ['Fix the login', 'Fix the login'],
  ['  Fix\n\nthe \t login  ', 'Fix the login'],
  ['Fix the login. It fails when the token has expired.', 'Fix the login'],
  ['Why? It fails when the token has expired!', 'Why? It fails when the token has expired!'],
  ['# Task\nFix the **login** in `auth.ts`', 'Task Fix the login in auth.ts'],
  ['@src/auth/login.ts fix the expiry', 'fix the expiry'],
  ['fix the expiry in @src/auth/login.ts, please', 'fix the expiry in login.ts, please'],
  ['compare @"my file.ts" with @docs/', 'compare my file.ts with docs'],
  ['mail ada@example.org about it', 'mail ada@example.org about it'],
  ['see https://github.com/acme/app/issues/12?tab=1#x and fix it', 'see github.com/acme/app/issues/12 and fix it'],
  ['Read https://example.org/a/very/long/path/that/goes/on/and/on/page.html now', 'Read example.org/…/page.html now'],
  ['Fix this:\n```ts\nconst a = 1\n```\nthanks', 'Fix this: thanks'],
  ['Explain\n```\nunclosed', 'Explain'],
  [
    '<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>the login code</command-args>',
    'the login code',
  ],
  ['<command-name>/init</command-name><command-message>init</command-message><command-args></command-args>', '/init'],
  ['<system-reminder>Never say this</system-reminder>Fix it now', 'Fix it now'],
  ['<ide_opened_file>secret.ts</ide_opened_file>\nAdd a test', 'Add a test'],
  ['<environment_context>\n<cwd>/w</cwd>\n</environment_context>', undefined],
  ['<bash-input>npm test</bash-input>', 'npm test'],
  ['Make the <div> red', 'Make the <div> red'],
  ['[Request interrupted by user]', undefined],
  ['[Image #1] what is this?', 'what is this?'],
  ['```\nonly code\n```', undefined],
  ['...', undefined],
  ['', undefined],
]
for (const [prompt, title] of titles) {
  test(`${JSON.stringify(prompt.slice(0, 50))} → ${title}`, () => assert.is(titleOf(prompt), title))
}

test('the first prompt that contains words is the title', () => {
  assert.is(
    titleOf('<command-name>/clear</command-name>', '[Image #1]', 'Repair the parser', 'And the lexer'),
    'Repair the parser',
  )
})

test('a long title ends after a whole word', () => {
  const title = titleOf(
    'please repair the parser of the configuration file so that it reads comments and trailing commas',
  )!
  assert.is(title, 'please repair the parser of the configuration file so that it reads comments…')
  assert.ok(title.length <= 80)
  assert.ok(titleOf('x'.repeat(200))!.length <= 80)
  assert.is(
    titleOf('👩‍👩‍👧'.repeat(50) + ' a')!
      .replace('…', '')
      .replaceAll('👩‍👩‍👧', ''),
    '',
  )
})

test('titles are one line of at most 80 characters, whatever the prompt', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (prompt) => {
      const title = titleOf(prompt) ?? ''
      assert.ok(title.length <= 80 && !/[\n\0]/.test(title))
      if (prompt.isWellFormed()) assert.ok(title.isWellFormed())
    }),
  )
})

test('a prompt of a megabyte costs no more than a short one', () => {
  for (const text of [
    '<'.repeat(1e6),
    '`'.repeat(1e6),
    '@'.repeat(1e6),
    'a '.repeat(5e5),
    '<command-name>'.repeat(1e5),
  ])
    cleanPrompt(text)
})

test('a summary says what was asked, what the result is, and that it is extracted', () => {
  const { summary } = extractSummary(
    session(asks('Fix the login'), says('Looking'), asks('And add a test'), says('Done.\nAll tests pass.')),
  )
  assert.is(
    summary,
    'Asked:\n- Fix the login\n- And add a test\n\nLast answer:\nDone. All tests pass.\n\nExtracted from 4 messages, not written by a model.',
  )
})

test('an empty session still has a summary', () => {
  assert.equal(extractSummary(session()), {
    title: undefined,
    summary: 'Extracted from 0 messages, not written by a model.',
  })
})

test('a text is cut after a word in any script', () => {
  assert.is(shorten('one two three', 13), 'one two three')
  assert.is(shorten('one two three', 12), 'one two…')
  assert.is(shorten('one two, three', 11), 'one two…')
  assert.ok(shorten('今日は天気がいいから散歩しましょう', 10).length <= 10)
})

test('the prompt for an endpoint fits its limit, with the start, the prompts and the end', () => {
  const turns = Array.from({ length: 300 }, (_, i) =>
    i % 3 === 0 ? asks(`prompt ${i} ${'word '.repeat(100)}`) : says(`answer ${i} ${'word '.repeat(1_000)}`),
  )
  const text = buildPrompt(session(...turns), 24_000)
  assert.ok(text.length <= 24_000 && text.length > 20_000)
  for (const part of [
    'A session of 300 messages',
    'prompt 0 ',
    'answer 1 ',
    'answer 299 ',
    'prompt 3 ',
    'prompt 294',
    'messages left out',
  ]) {
    assert.ok(text.includes(part), part)
  }
  const places = [...text.matchAll(/(?:prompt|answer) (\d+)/g)].map(([, n]) => Number(n))
  assert.equal(
    places,
    [...places].sort((a, b) => a - b),
  )
  assert.ok(buildPrompt(session(...turns), 1_000).length <= 1_000)
})

test.run()
