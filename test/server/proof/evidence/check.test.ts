import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Evidence } from '../../../../src/contract/evidence.ts'
import { signCheckpoint } from '../../../../src/server/proof/checkpoint.ts'
import { assembleEvidence } from './support/assemble.ts'
import { BadEvidence, type Step } from '../../../../src/server/proof/evidence/bad-evidence.ts'
import { isShown } from '../../../../src/server/proof/evidence/check-event.ts'
import { checkEvidence } from '../../../../src/server/proof/evidence/check.ts'
import { describeEvidence, evidenceDocument } from '../../../../src/server/proof/evidence/describe.ts'
import type { LinesOfRange } from '../../../../src/server/proof/evidence/line-check.ts'
import { generateSigner, signNote } from '../../../../src/server/proof/note.ts'
import { leafHash } from '../../../../src/server/proof/tree.ts'
import { signer } from '../support.ts'
import { AT, AUTHOR, LINES, SHA, bytesOf, goodFile, newLog, session } from './support/made.ts'

const test = suite('evidence files: the check')

const key = signer.verifier.text
const linesOf: LinesOfRange = (_, { start, end }) => LINES.slice(start - 1, end)
const check = (file: unknown, options: Parameters<typeof checkEvidence>[1] = { key, linesOf }) =>
  checkEvidence(bytesOf(file), options)

test('gives what a file proves', () => {
  const found = check(goodFile())
  assert.equal([found.origin, found.size, found.key, found.isKnownKey], [signer.name, 7, key, true])
  assert.equal(
    found.events.map((event) => isShown(event) && [event.index, event.type, event.at, event.by]),
    [
      [0, 'TraceCreated', AT, AUTHOR],
      [1, 'MessageAdded', AT, AUTHOR],
      [2, 'TraceCreated', AT, AUTHOR],
      [3, 'MessageAdded', AT, AUTHOR],
      [4, 'MessageUpdated', AT, AUTHOR],
      [5, 'TraceDeleted', AT, AUTHOR],
    ],
  )
  assert.equal(
    found.sessions.map(({ externalId, begins, isErased }) => [externalId, begins?.type, isErased]),
    [
      ['one', 'TraceCreated', false],
      ['two', 'TraceCreated', false],
    ],
  )
  assert.equal([found.lines, found.previous?.size], [{ checked: 3, of: 3 }, 3])
  assert.equal(
    found.deletions.map((event) => event?.externalId),
    ['three'],
  )
})

test('a range has the events of its message, each in its place', () => {
  const [commit] = goodFile().commits
  assert.equal(
    commit!.ranges.map(({ events }) => events),
    [[1, 4], [3]],
  )
})

test('without the key it is that of the file, and without the repository no line is checked', () => {
  const { isKnownKey, lines } = check(goodFile(), {})
  assert.equal([isKnownKey, lines], [false, { checked: 0, of: 4 }])
})

test('members may have any order, and unknown ones are ignored', () => {
  const { log, ...rest } = goodFile()
  check({ further: { of: 'another version' }, ...rest, log: { witness: 1, ...log } })
})

type Change = (file: Evidence) => unknown
const changed = (change: Change) => {
  const file = goodFile()
  return change(file) ?? file
}

const other = generateSigner('elsewhere.example/log')
const hash = Buffer.alloc(32, 7).toString('base64')

/** What a forger could change, with the step that fails. */
const forgeries: readonly (readonly [what: string, step: Step, change: Change])[] = [
  ['another format', 'format', (file) => ({ ...file, format: 'tracebook-evidence/2' })],
  ['no list of sessions', 'format', ({ sessions: _, ...file }) => file],
  ['an event with entry and leaf', 'format', ({ events }) => void (events[1]!.leaf = hash)],
  ['an event with neither', 'format', ({ events }) => void delete events[1]!.entry],
  ['an event twice', 'format', ({ events }) => void events.push(events.at(-1)!)],
  ['two events in another order', 'format', ({ events }) => void events.splice(0, 2, events[1]!, events[0]!)],
  ['a negative index', 'format', ({ events }) => void (events[0]!.index = -1)],
  ['half a line', 'format', ({ commits }) => void (commits[0]!.ranges[0]!.end = 2.5)],
  ['a range that ends before its start', 'format', ({ commits }) => void (commits[0]!.ranges[0]!.end = 0)],
  ['a range without events', 'format', ({ commits }) => void (commits[0]!.ranges[0]!.events = [])],
  [
    'an unknown kind of evidence',
    'format',
    ({ commits }) => void ((commits[0]!.ranges[0]!.evidence as string) = 'moved'),
  ],
  ['a path that leaves the repository', 'format', ({ commits }) => void (commits[0]!.ranges[0]!.path = 'a/../b')],
  ['a commit that is a name', 'format', ({ commits }) => void (commits[0]!.sha = 'HEAD')],
  ['another origin', 1, ({ log }) => void (log.origin = other.name)],
  ['another size', 1, ({ log }) => void (log.checkpoint = log.checkpoint.replace('\n7\n', '\n8\n'))],
  [
    'a checkpoint of another key',
    1,
    ({ log }) => void (log.checkpoint = signCheckpoint({ size: 7, root: Buffer.alloc(32) }, other)),
  ],
  ['a checkpoint without its last newline', 1, ({ log }) => void (log.checkpoint = log.checkpoint.trimEnd())],
  ['a word of an entry', 2, ({ events }) => void (events[1]!.entry = events[1]!.entry!.replace('first', 'other'))],
  ['white space in an entry', 2, ({ events }) => void (events[1]!.entry = `${events[1]!.entry} `)],
  ['another index', 2, ({ events }) => void (events[5]!.index = 6)],
  ['an index beyond the log', 2, ({ events }) => void (events[5]!.index = 7)],
  ['a hash of a proof', 2, ({ events }) => void (events[1]!.proof[0] = hash)],
  ['a hash less', 2, ({ events }) => void events[1]!.proof.pop()],
  ['a hash more', 2, ({ events }) => void events[1]!.proof.push(hash)],
  ['a hash in other letters', 2, ({ events }) => void (events[1]!.proof[0] = events[1]!.proof[0]!.replace('=', ''))],
  ['a leaf of another event', 2, ({ events }) => void (events[1] = { index: 1, proof: events[1]!.proof, leaf: hash })],
  ['another session', 4, ({ sessions }) => void (sessions[0]!.externalId = 'other')],
  ['another trace', 4, ({ sessions }) => void (sessions[0]!.traceId = 't2')],
  ['a session that begins with a message', 4, ({ sessions }) => void (sessions[0]!.begins = 1)],
  ['a session that begins with no event', 4, ({ sessions }) => void (sessions[0]!.begins = 6)],
  ['one line more', 5, ({ commits: [commit] }) => void ((commit!.ranges[0]!.end = 4), (commit!.unknown = []))],
  ['a line twice', 5, ({ commits: [commit] }) => void commit!.unknown.push({ path: 'src/a.ts', start: 5, end: 5 })],
  ['a commit twice', 5, ({ commits }) => void commits.push({ sha: SHA, ranges: [], unknown: [] })],
  ['another session for a range', 5, ({ commits }) => void (commits[0]!.ranges[0]!.session = 1)],
  ['a session that is not there', 5, ({ commits }) => void (commits[0]!.ranges[0]!.session = 2)],
  ['events of another session for a range', 5, ({ commits }) => void (commits[0]!.ranges[0]!.events = [3])],
  ['an event that is not there for a range', 5, ({ commits }) => void (commits[0]!.ranges[0]!.events = [1, 6])],
  ['an event without the lines for a range', 5, ({ commits }) => void (commits[0]!.ranges[0]!.events = [4])],
  ['lines beyond the file', 5, ({ commits }) => void (commits[0]!.ranges[1]!.end = 6)],
  [
    'an older checkpoint of another key',
    6,
    ({ log }) => void (log.previous!.checkpoint = signCheckpoint({ size: 3, root: Buffer.alloc(32) }, other)),
  ],
  [
    'an older checkpoint with another root',
    6,
    ({ log }) => void (log.previous!.checkpoint = signCheckpoint({ size: 3, root: Buffer.alloc(32) }, signer)),
  ],
  [
    'an older checkpoint of nothing',
    6,
    ({ log }) =>
      void (log.previous = { checkpoint: signCheckpoint({ size: 0, root: leafHash('') }, signer), proof: [] }),
  ],
  ['a proof of the older checkpoint', 6, ({ log }) => void (log.previous!.proof[0] = hash)],
  ['no proof of the older checkpoint', 6, ({ log }) => void (log.previous!.proof = [])],
  ['another deleted trace', 7, ({ deletions }) => void (deletions[0]!.traceId = 't1')],
  ['another event for a deletion', 7, ({ deletions }) => void (deletions[0]!.event = 4)],
]

for (const [what, step, change] of forgeries)
  test(`refuses ${what}`, () => {
    try {
      check(changed(change))
    } catch (error) {
      assert.instance(error, BadEvidence)
      assert.is((error as BadEvidence).step, step, (error as BadEvidence).message)
      return
    }
    assert.unreachable('it is accepted')
  })

const reasonOf = (bytes: Uint8Array, options = {}) => {
  try {
    checkEvidence(bytes, options)
  } catch (error) {
    return (error as Error).message
  }
  return 'accepted'
}

test('a refusal says the step, and the event or the line', () => {
  const wrong = changed(({ events }) => void events[1]!.proof.pop())
  assert.is(reasonOf(bytesOf(wrong)), 'step 2 fails, event 1: it does not lead to the root of the checkpoint')
  const lines = changed(({ commits }) => void (commits[0]!.ranges[0]!.events = [4]))
  const place = `line 1 of src/a.ts in ${SHA}`
  assert.is(reasonOf(bytesOf(lines), { linesOf }), `step 5 fails, ${place}: it is in none of the events of its range`)
})

test('a file with a key of its own holds only if no other key is known', () => {
  const { log, size, note, proven } = newLog([{ trace: 't1', type: 'TraceCreated', data: { externalId: 'one' } }])
  const root = note().split('\n')[2]!
  const checkpoint = signCheckpoint({ size, root: Buffer.from(root, 'base64') }, other)
  const forged = assembleEvidence({
    ...{ madeAt: AT, madeBy: 'a forger', log: { ...log, checkpoint, origin: other.name, key: other.verifier.text } },
    sessions: [{ ...session('t1', 'one'), answers: [{ events: [proven(0)] }] }],
  })
  assert.is(check(forged, {}).isKnownKey, false)
  assert.match(reasonOf(bytesOf(forged), { key }), /^step 1 fails, checkpoint: it has no signature of the key/)
})

const bad = (entry: readonly unknown[] | string) => {
  const text = typeof entry === 'string' ? entry : JSON.stringify(entry)
  const leaf = leafHash(text)
  const checkpoint = signCheckpoint({ size: 1, root: leaf }, signer)
  const log = { origin: signer.name, key, checkpoint }
  return {
    ...goodFile(),
    log,
    events: [{ index: 0, proof: [], entry: text }],
    sessions: [],
    commits: [],
    deletions: [],
  }
}

const good = ['id', 'trace-t1', 'TraceCreated', '{"at":1}', '{}']
for (const [what, entry] of [
  ['no JSON', '['],
  ['four strings', good.slice(1)],
  ['a number', [...good.slice(1), 1]],
  ['metadata that are no JSON', good.with(3, '{')],
  ['no time', good.with(3, '{}')],
  ['metadata that are null', good.with(3, 'null')],
  ['half a millisecond', good.with(3, '{"at":1.5}')],
  ['data that are no JSON', good.with(4, '')],
] as const)
  test(`step 3 refuses an entry with ${what}, even if a key has signed it`, () => {
    assert.match(reasonOf(bytesOf(bad(entry))), /^step 3 fails, event 0: /)
  })

test('an entry that a leaf has is accepted', () => assert.is(reasonOf(bytesOf(bad(good))), 'accepted'))

test('step 3 refuses a stream in which time goes back', () => {
  const event = { trace: 't1', type: 'TraceUpdated', data: {} }
  const { log, proven } = newLog([
    { ...event, at: 2 },
    { ...event, trace: 't2', at: 1 },
    { ...event, at: 1 },
  ])
  const file = { ...goodFile(), log, sessions: [], commits: [], deletions: [] }
  const events = [0, 1, 2].map(proven)
  assert.is(reasonOf(bytesOf({ ...file, events: events.slice(0, 2) })), 'accepted')
  assert.match(reasonOf(bytesOf({ ...file, events })), /^step 3 fails, event 2: it is earlier/)
})

test('a lone surrogate counts as U+FFFD, which it is hashed as', () => {
  const entry = JSON.stringify(good.with(4, '"\ufffd"'))
  const file = JSON.stringify(bad(entry))
  for (const text of [file, file.replaceAll('\ufffd', '\\ud800')]) assert.is(reasonOf(Buffer.from(text)), 'accepted')
})

const memberTwice = ({ log, ...file }: Evidence) =>
  `${JSON.stringify(file).slice(0, -1)},"log":{},"log":${JSON.stringify(log)}}`
for (const [what, text] of [
  ['a member twice', memberTwice(goodFile())],
  ['a whole number with a fraction', JSON.stringify(goodFile()).replace('"begins":0', '"begins":0.0')],
  ['a minus before zero', JSON.stringify(goodFile()).replace('"begins":0', '"begins":-0')],
] as const)
  test(`refuses ${what}`, () => assert.match(reasonOf(Buffer.from(text)), /^it is not an evidence file/))

const signatureOf = (note: string) => note.split('\n').at(-2)!
test('a checkpoint may have signatures of others, and has one of the key', () => {
  const file = goodFile()
  const { checkpoint } = file.log
  const signedAgain = (line: string) => ({ ...file, log: { ...file.log, checkpoint: `${checkpoint}${line}\n` } })
  const cosigned = signNote(`${checkpoint.split('\n\n')[0]!}\n`, other)
  assert.is(reasonOf(bytesOf(signedAgain(signatureOf(cosigned)))), 'accepted')
  assert.match(reasonOf(bytesOf(signedAgain(signatureOf(checkpoint)))), /^step 1 fails, checkpoint: it is signed twice/)
})

test('a checkpoint of another log, signed by the same key, is refused', () => {
  const file = goodFile()
  const text = file.log.checkpoint.split('\n\n')[0]!.replace(signer.name, 'another')
  const log = { ...file.log, origin: 'another', checkpoint: signNote(`${text}\n`, signer) }
  assert.match(reasonOf(bytesOf({ ...file, log })), /^step 1 fails, checkpoint: it is that of another/)
})

for (const [what, bytes] of [
  ['no UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
  ['a byte order mark', Buffer.from(`\ufeff${JSON.stringify(goodFile())}`)],
  ['no JSON', Buffer.from('{')],
  ['null', Buffer.from('null')],
  ['an empty file', Buffer.from('')],
] as const)
  test(`refuses ${what}`, () => assert.match(reasonOf(bytes), /^it is not an evidence file: /))

test('withheld events are reported, and are no error', () => {
  const file = goodFile()
  file.events = file.events.map(({ index, proof, entry }) => ({
    index,
    proof,
    leaf: leafHash(entry!).toString('base64'),
  }))
  const found = check(file)
  assert.equal(found.events.filter(isShown), [])
  assert.equal([found.sessions.map(({ begins }) => begins), found.deletions], [[undefined, undefined], [undefined]])
  assert.equal(found.lines, { checked: 0, of: 3 })
  assert.is(evidenceDocument(found).erased, 0, 'a deletion that nothing shows is none')
  const said = describeEvidence(found, true).join('\n')
  assert.match(said, '7. Of 1 deletion that the file names the event is withheld: nothing shows that it is one.')
  assert.not.match(said, '1 trace was deleted')
})

test('lines of a range whose events are partly withheld are checked as far as they are shown', () => {
  const file = goodFile()
  const [, { index, proof, entry }, ...rest] = file.events as [never, { index: number; proof: string[]; entry: string }]
  file.events = [file.events[0]!, { index, proof, leaf: leafHash(entry).toString('base64') }, ...rest]
  assert.equal(check(file).lines, { checked: 1, of: 3 })
})

test('a session is erased if its trace was deleted after it had begun, and not if a deleted trace was created again', () => {
  const created = { trace: 't1', type: 'TraceCreated', data: { externalId: 'one' } }
  const { log, proven } = newLog([created, { trace: 't1', type: 'TraceDeleted', data: {} }, created])
  const isErased = (begins: number) => {
    const sessions = [{ ...session('t1', 'one'), answers: [{ events: [proven(begins)] }] }]
    const deletions = [{ traceId: 't1', proof: proven(1) }]
    const file = assembleEvidence({ madeAt: AT, madeBy: 'x', log, sessions, deletions })
    return check(file).sessions[0]!.isErased
  }
  assert.equal([isErased(0), isErased(2)], [true, false])
})

test('a value that is nested too deep is refused', () => {
  const nested = (depth: number) => bytesOf(bad(good.with(4, `${'['.repeat(depth)}1${']'.repeat(depth)}`)))
  assert.is(reasonOf(nested(1_000)), 'accepted')
  for (const depth of [1_001, 100_000]) assert.match(reasonOf(nested(depth)), /^step 3 fails, event 0: its data/)
})

test.run()
