import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newEventText } from '../../../src/client/report/event-text.ts'
import type { SessionEvent, Summary, SyncEvent } from '../../../src/client/report/events.ts'

const test = suite('what a person is told of a run')

const nothing = {
  synced: 0,
  unchanged: 0,
  empty: 0,
  deleted: 0,
  excluded: 0,
  held: 0,
  failed: 0,
  messages: 0,
  new: 0,
  updated: 0,
}
const summary = (more: Partial<Summary> = {}): Summary => ({
  type: 'summary',
  dryRun: false,
  ...nothing,
  ...{ redacted: 0, exposed: 0, skippedLines: 0, skippedBytes: 0, unknownParts: 0, leftOutMessages: 0, exitCode: 0 },
  ...more,
})
const session: SessionEvent = {
  ...{ type: 'session', status: 'synced', file: '/s/a.jsonl', externalId: 'id/1', title: 'Add a test', project: 'app' },
  ...{ namespace: 'ada', visibility: 'private', messages: 4, new: 4, updated: 0 },
}
const start: SyncEvent = { type: 'start', server: 'http://h', namespace: 'ada', files: 1, bytes: 1 }
const badLine = (line: number): SyncEvent => ({
  ...{ type: 'problem', kind: 'line_skipped', file: '/s/a.jsonl', line },
  message: 'not one JSON object: 7 bytes left out',
})

const told = (events: readonly SyncEvent[], dryRun = false) => {
  const text = newEventText({ dryRun, namesSessions: true })
  const all = events.map(text)
  return { results: all.flatMap(({ results = [] }) => results), notices: all.flatMap(({ notices = [] }) => notices) }
}

test('of 20,000 malformed lines three are reported, with the number of the others', () => {
  const lines = Array.from({ length: 20_000 }, (_, i) => badLine(i + 1))
  const { notices } = told([start, ...lines, summary({ skippedLines: 20_000 })])
  assert.equal(notices, [
    ...[1, 2, 3].map((line) => `/s/a.jsonl:${line}: not one JSON object: 7 bytes left out`),
    '... and 19,997 more lines skipped; --json names each',
  ])
})

test('each failed session is reported', () => {
  const failed = Array.from({ length: 10 }, (_, i): SyncEvent => {
    return { type: 'problem', kind: 'session_failed', file: `/s/${i}`, message: 'no' }
  })
  assert.is(told([start, ...failed, summary()]).notices.length, 10)
})

test('a dry run reports for each session how many messages go to which namespace, and who can read them', () => {
  const untitled: SessionEvent = { ...session, new: 1, messages: 12, visibility: 'public' }
  delete (untitled as { title?: string }).title
  const { results } = told([start, session, untitled, summary({ dryRun: true, synced: 2, messages: 16, new: 5 })], true)
  assert.equal(results, [
    '"Add a test" (project app): 4 messages (4 new) to namespace ada, private',
    'id/1 (project app): 12 messages (1 new) to namespace ada, public',
    'would sync 2 sessions: 16 messages (5 new)',
  ])
})

test('a session is named by its title, else by its id; a problem in a file is reported with the path', () => {
  const file = '/s/a.jsonl'
  const { title: _, ...untitled } = session
  const { externalId: __, ...unread } = untitled
  const long = 'word '.repeat(40)
  const { results } = told([start, session, untitled, unread, { ...session, title: long }])
  assert.equal(results, [
    '"Add a test": 4 messages (4 new)',
    'id/1: 4 messages (4 new)',
    '/s/a.jsonl: 4 messages (4 new)',
    `"${'word '.repeat(15)}word…": 4 messages (4 new)`,
  ])
  const { notices } = told([
    start,
    { type: 'notice', file, externalId: 'id/1', title: 'Add a test', message: 'left alone' },
    { type: 'notice', file, externalId: 'id/1', message: 'left alone' },
    { type: 'problem', kind: 'session_failed', file, title: 'Add a test', message: 'no' },
    { type: 'problem', kind: 'session_failed', file, message: 'no' },
    { type: 'problem', kind: 'message_left_out', file, line: 7, title: 'Add a test', message: 'too long' },
    { type: 'problem', kind: 'secret_in_history', file, title: 'Add a test', message: 'erase it' },
  ])
  assert.equal(notices, [
    '"Add a test": left alone',
    '/s/a.jsonl: left alone',
    '"Add a test": no',
    '/s/a.jsonl: no',
    '/s/a.jsonl:7: too long',
    '/s/a.jsonl: erase it',
  ])
})

test('a session that became public is reported with its address', () => {
  const published: SessionEvent = { ...session, published: true, visibility: 'public' }
  const { results } = told([start, published, session, summary({ synced: 2, messages: 8, new: 8 })])
  assert.equal(results.slice(2), [
    '1 session became public, for everyone to read:',
    '  "Add a test"  http://h/@ada/id%2F1',
    'read them at http://h/@ada',
    'synced 2 sessions: 8 messages (8 new)',
  ])
})

test('parts of unknown kinds are said once for all sessions, and at most 20 kinds are named', () => {
  const left = (file: string, kinds: readonly string[]): SyncEvent => ({
    ...{ type: 'problem', kind: 'kinds_left_out', file, parts: kinds.length, kinds, message: 'x' },
  })
  const many = Array.from({ length: 22 }, (_, number) => `kind-${number}`)
  const { notices } = told([start, left('/s/a', ['kind-0', 'kind-1']), left('/s/b', many), summary()])
  assert.equal(notices, [`24 parts of unknown kinds left out: ${many.slice(0, 20).join(', ')} and 2 more kinds`])
})

test.run()
