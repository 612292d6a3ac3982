import { globSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Rejected, type Rejection } from '../../../src/eventstore/engine/rejected.ts'
import type { Decision } from '../../../src/eventstore/engine/stream.ts'
import { upsertMessages } from '../../../src/server/trace/messages/decide.ts'
import { carrySummary, summarise } from '../../../src/server/trace/decide-summary.ts'
import {
  type FieldsOfUpsert,
  arrive,
  noCounts,
  patch,
  remove,
  rename,
  removeUnchanged,
  replace,
  touchUnchanged,
  traces,
  unlessDeleted,
  upsert,
  withdraw,
} from '../../../src/server/trace/decide.ts'
import type { PresentTrace, Trace, TraceState } from '../../../src/server/trace/state.ts'
import { TraceEvent } from '../../../src/server/trace/events.ts'
import { NO_PARTS } from '../../../src/server/trace/messages/heads.ts'
import { LoadedMessages, type MessageHead } from '../../../src/server/trace/messages/loaded.ts'
import { toUpsert } from '../../../src/server/trace/messages/message.ts'
import type { UserRole } from '../../../src/server/trace/policy.ts'
import { type Expectation, LATER, NOON, foldAll, specify } from '../../support/given.ts'

const test = suite('trace/decide')

type Data<Type> = Extract<TraceEvent, { type: Type }>['data']
type Decide = Decision<TraceState, TraceEvent>

const origin = { externalId: 'x', namespaceId: 'n' }
const firstFields = { agentId: 'a', title: 'First', visibility: 'public' } as const
const created: TraceEvent = { type: 'TraceCreated', data: { ...origin, createdBy: 'ada', ...firstFields } }
const updated = (...patch: Data<'TraceUpdated'>['patch']): TraceEvent => ({ type: 'TraceUpdated', data: { patch } })
const titled = { op: 'replace', path: '/title', value: 'Second' } as const
const madePrivate = { op: 'replace', path: '/visibility', value: 'private' } as const
const unchanged = updated()

const deleted = (more: Partial<Data<'TraceDeleted'>> = {}): TraceEvent => ({
  type: 'TraceDeleted',
  data: { ...origin, createdBy: 'ada', createdAt: NOON, messageCount: 0, earlier: [], ...more },
})

const message = toUpsert('m', { role: 'user', textContent: 'one' })
const changedMessage = toUpsert('m', { role: 'user', textContent: 'two' })
const others = toUpsert('other', { role: 'user' })
const counted = { class: 'user_message', tools: [] as string[] } as const

const added = ({ externalId, given, heads }: typeof message, ordinal = 0): TraceEvent => ({
  type: 'MessageAdded',
  data: { externalId, ordinal, ...given, ...counted, heads, parts: [] },
})
const changed: TraceEvent = {
  type: 'MessageUpdated',
  data: {
    externalId: 'm',
    ordinal: 0,
    ...counted,
    patch: [{ op: 'replace', path: '/textContent', value: 'two' }],
  },
}
const counts = (messageCount: number): TraceEvent => ({
  type: 'MessagesCounted',
  data: {
    messageCount,
    messageTypeCounts: { ...noCounts.messageTypeCounts, user_message: messageCount },
    toolTypeCounts: {},
  },
})
const times = { createdAt: NOON, updatedAt: NOON + 2_000 }
const restated: TraceEvent = {
  type: 'MessageRestated',
  data: { ...(added(message).data as Data<'MessageAdded'>), ...times, namespaceId: 'n', since: 3 },
}
const historyErased: TraceEvent = {
  type: 'HistoryErased',
  data: {
    ...{ ...origin, createdBy: 'ada', ...firstFields, ...times, ...(counts(1).data as Data<'MessagesCounted'>) },
    ...{ since: 3, runs: [[0, 3, 1]], bytes: 100, erased: 3, past: [], earlier: [] },
  },
}
const from = { namespaceId: 'before', slug: 'before', deletions: 0 }
const arriving = (earlier: Data<'TraceArriving'>['earlier'] = []): TraceEvent => ({
  type: 'TraceArriving',
  data: { ...origin, createdBy: 'ada', movedFrom: from, earlier },
})
const summarised: TraceEvent = { type: 'TraceSummarised', data: { title: 'T', summary: 'S', messageCount: 1 } }

/** What the service may have in memory, which need not be all messages: the heads of some. */
const loaded =
  (total: number, ...found: (readonly [externalId: string, MessageHead | 'none'])[]) =>
  ({ trace }: TraceState): TraceState => {
    const messages = new LoadedMessages(total)
    for (const one of found) messages.set(...one)
    return { trace, messages }
  }

type State = {
  readonly is: Trace['is']
  readonly past: readonly TraceEvent[]
  /** Who asks. */
  readonly writer: UserRole
  readonly load?: (state: TraceState) => TraceState
}

const ada: UserRole = { userId: 'ada', role: 'member' }
const present = { is: 'present', past: [created], writer: ada } as const
const known: MessageHead = {
  ...{ ordinal: 0, role: 'user', parts: NO_PARTS, ...counted, createdAt: NOON, updatedAt: NOON },
  ...message.heads,
}
const written = { ...present, past: [created, added(message), counts(1)] } as const

const states = {
  'never existed': { is: 'absent', past: [], writer: ada },
  'was deleted': { is: 'absent', past: [created, deleted()], writer: ada },
  'was deleted and created again': { ...present, past: [created, deleted(), created] },
  'is being moved here': { is: 'absent', past: [arriving()], writer: ada },
  'is the writer’s': present,
  'is another member’s': { ...present, writer: { userId: 'bob', role: 'member' } },
  'is another member’s, and the writer an admin': { ...present, writer: { userId: 'eve', role: 'admin' } },
  'is of a writer who has left': { ...present, writer: { userId: 'ada', role: undefined } },
  'was updated': { ...present, past: [created, updated(titled)] },
  'has the message': written,
  'has the changed message': { ...written, past: [...written.past, changed] },
  'has the message, and only its head is loaded': { ...written, load: loaded(1, ['m', known]) },
  'has messages that are not loaded': { ...written, load: loaded(1) },
  'has other messages, and the message is known to be missing': {
    ...present,
    past: [created, added(others), counts(1)],
    load: loaded(1, ['m', 'none']),
  },
  'had its past erased': {
    ...present,
    past: [...written.past, summarised, restated, historyErased],
    load: loaded(1, ['m', known]),
  },
  'has a summary': { ...written, past: [...written.past, summarised] },
} satisfies Readonly<Record<string, State>>

const fields: FieldsOfUpsert = { title: 'Second' }

const summary = { title: 'T', summary: 'S', messageCount: 1, deletions: 0 }
const THRESHOLD = 20

/** Of each decision at least one case, `<decision>` or `<decision>, <case>`. */
const intents = {
  upsert: (writer: UserRole): Decide => upsert(writer, origin, fields),
  unlessDeleted: (writer: UserRole): Decide => unlessDeleted(upsert(writer, origin, fields)),
  replace: (writer: UserRole): Decide => replace(writer, fields),
  patch: (writer: UserRole): Decide => patch(writer, fields),
  rename: (writer: UserRole): Decide => rename(writer, 'Second', firstFields.title),
  remove: (writer: UserRole): Decide => remove(writer),
  removeUnchanged: (): Decide => removeUnchanged(NOON + 60_000),
  touchUnchanged: (): Decide => touchUnchanged(undefined),
  'upsertMessages, one': (writer: UserRole) => upsertMessages(writer, [message]),
  'upsertMessages, one with a change': (writer: UserRole) => upsertMessages(writer, [changedMessage]),
  summarise: (): Decide => summarise(summary, THRESHOLD),
  carrySummary: (): Decide => carrySummary(foldAll(traces, [...written.past, summarised]).trace as PresentTrace),
  arrive: (): Decide => arrive({ ...origin, createdBy: 'ada', movedFrom: from }),
  'arrive, from elsewhere': (): Decide => arrive({ ...origin, createdBy: 'ada', movedFrom: { ...from, deletions: 1 } }),
  withdraw: (): Decide => withdraw(from),
  'withdraw, what comes from elsewhere': (): Decide => withdraw({ ...from, namespaceId: 'elsewhere' }),
}

type Outcome = (then: Expectation<TraceEvent>) => void
const emits =
  (...events: TraceEvent[]): Outcome =>
  (then) =>
    then.emits(...events)
const touched: Outcome = (then) => then.emitsThen(unchanged, unchanged)
const emitsOnce =
  (code: Rejection, ...events: TraceEvent[]): Outcome =>
  (then) =>
    then.emitsOnce(code, ...events)
/** An update is an event each time: a retry moves `updatedAt`. */
const updates =
  (...events: TraceEvent[]): Outcome =>
  (then) =>
    then.emitsThen(unchanged, ...events)
const rejects =
  (code: Rejection): Outcome =>
  (then) =>
    then.rejects(code)
const notLoaded: Outcome = (then) => then.fails(/message m was not loaded/)

const createdByUpsert: TraceEvent = {
  type: 'TraceCreated',
  data: { ...origin, createdBy: 'ada', agentId: 'unknown', visibility: 'private', title: 'Second' },
}
const replaced = updates(updated(madePrivate, titled))
const patched = updates(updated(titled))
const renamed = emits(updated(titled))
const removed = (more: Partial<Data<'TraceDeleted'>> = {}) => emitsOnce('not_found', deleted(more))
const adds = (upsert: typeof message) => emits(added(upsert), counts(1))
const refused = {
  'never existed': rejects('not_found'),
  'was deleted': rejects('not_found'),
  'is being moved here': rejects('not_found'),
  'is another member’s': rejects('forbidden'),
  'is of a writer who has left': rejects('not_found'),
}

type Specs = { readonly [Intent in keyof typeof intents]: { readonly [State in keyof typeof states]: Outcome } }

const replacing: Specs['replace'] = {
  ...refused,
  'was deleted and created again': replaced,
  'is the writer’s': replaced,
  'is another member’s, and the writer an admin': replaced,
  'was updated': updates(updated(madePrivate)),
  'has the message': replaced,
  'has the changed message': replaced,
  'has the message, and only its head is loaded': replaced,
  'had its past erased': replaced,
  'has messages that are not loaded': replaced,
  'has other messages, and the message is known to be missing': replaced,
  'has a summary': replaced,
}

/** The same outcome for each state. */
const each = (outcome: Outcome) =>
  Object.fromEntries(Object.keys(states).map((name) => [name, outcome])) as Specs['upsert']

const fromElsewhere = { ...origin, createdBy: 'ada', movedFrom: { ...from, deletions: 1 } }

const specs: Specs = {
  upsert: {
    ...replacing,
    'never existed': updates(createdByUpsert),
    'was deleted': updates(createdByUpsert),
    'is being moved here': rejects('exists'),
  },
  unlessDeleted: {
    ...replacing,
    'never existed': updates(createdByUpsert),
    'was deleted': rejects('deleted'),
    'is being moved here': rejects('exists'),
  },
  replace: replacing,
  patch: {
    ...refused,
    'was deleted and created again': patched,
    'is the writer’s': patched,
    'is another member’s, and the writer an admin': patched,
    'was updated': updates(unchanged),
    'has the message': patched,
    'has the changed message': patched,
    'has the message, and only its head is loaded': patched,
    'had its past erased': patched,
    'has messages that are not loaded': patched,
    'has other messages, and the message is known to be missing': patched,
    'has a summary': patched,
  },
  rename: {
    ...refused,
    'was deleted and created again': renamed,
    'is the writer’s': renamed,
    'is another member’s, and the writer an admin': renamed,
    'was updated': emits(),
    'has the message': renamed,
    'has the changed message': renamed,
    'has the message, and only its head is loaded': renamed,
    'had its past erased': renamed,
    'has messages that are not loaded': renamed,
    'has other messages, and the message is known to be missing': renamed,
    'has a summary': renamed,
  },
  remove: {
    ...refused,
    'was deleted and created again': removed({
      createdAt: NOON + 2_000,
      earlier: [{ createdAt: NOON, deletedAt: NOON + 1_000, messageCount: 0 }],
    }),
    'is the writer’s': removed(),
    'is another member’s, and the writer an admin': removed(),
    'was updated': removed(),
    'has the message': removed({ messageCount: 1 }),
    'has the changed message': removed({ messageCount: 1 }),
    'has the message, and only its head is loaded': removed({ messageCount: 1 }),
    'had its past erased': removed({ messageCount: 1 }),
    'has messages that are not loaded': removed({ messageCount: 1 }),
    'has other messages, and the message is known to be missing': removed({ messageCount: 1 }),
    'has a summary': removed({ messageCount: 1 }),
  },
  removeUnchanged: {
    'never existed': emits(),
    'was deleted': emits(),
    'is being moved here': emits(),
    'was deleted and created again': emits(
      deleted({
        createdAt: NOON + 2_000,
        earlier: [{ createdAt: NOON, deletedAt: NOON + 1_000, messageCount: 0 }],
      }),
    ),
    'is the writer’s': emits(deleted()),
    'is another member’s': emits(deleted()),
    'is another member’s, and the writer an admin': emits(deleted()),
    'is of a writer who has left': emits(deleted()),
    'was updated': emits(deleted()),
    'has the message': emits(deleted({ messageCount: 1 })),
    'has the changed message': emits(deleted({ messageCount: 1 })),
    'has the message, and only its head is loaded': emits(deleted({ messageCount: 1 })),
    'had its past erased': emits(deleted({ messageCount: 1 })),
    'has messages that are not loaded': emits(deleted({ messageCount: 1 })),
    'has other messages, and the message is known to be missing': emits(deleted({ messageCount: 1 })),
    'has a summary': emits(deleted({ messageCount: 1 })),
  },
  touchUnchanged: {
    'never existed': emits(),
    'was deleted': emits(),
    'is being moved here': emits(),
    'was deleted and created again': touched,
    'is the writer’s': touched,
    'is another member’s': touched,
    'is another member’s, and the writer an admin': touched,
    'is of a writer who has left': touched,
    'was updated': touched,
    'has the message': touched,
    'has the changed message': touched,
    'has the message, and only its head is loaded': touched,
    'had its past erased': touched,
    'has messages that are not loaded': touched,
    'has other messages, and the message is known to be missing': touched,
    'has a summary': touched,
  },
  'upsertMessages, one': {
    ...refused,
    'was deleted and created again': adds(message),
    'is the writer’s': adds(message),
    'is another member’s, and the writer an admin': adds(message),
    'was updated': adds(message),
    'has the message': emits(),
    'has the changed message': emits({
      type: 'MessageUpdated',
      data: {
        ...(changed.data as Data<'MessageUpdated'>),
        patch: [{ op: 'replace', path: '/textContent', value: 'one' }],
      },
    }),
    'has the message, and only its head is loaded': emits(),
    'had its past erased': emits(),
    'has messages that are not loaded': notLoaded,
    'has other messages, and the message is known to be missing': emits(added(message, 1), counts(2)),
    'has a summary': emits(),
  },
  'upsertMessages, one with a change': {
    ...refused,
    'was deleted and created again': adds(changedMessage),
    'is the writer’s': adds(changedMessage),
    'is another member’s, and the writer an admin': adds(changedMessage),
    'was updated': adds(changedMessage),
    'has the message': emits(changed),
    'has the changed message': emits(),
    'has the message, and only its head is loaded': emits(changed),
    'had its past erased': emits(changed),
    'has messages that are not loaded': notLoaded,
    'has other messages, and the message is known to be missing': emits(added(changedMessage, 1), counts(2)),
    'has a summary': emits(changed),
  },
  summarise: {
    'never existed': emits(),
    'was deleted': emits(),
    'is being moved here': emits(),
    'was deleted and created again': emits(),
    'is the writer’s': emits(summarised),
    'is another member’s': emits(summarised),
    'is another member’s, and the writer an admin': emits(summarised),
    'is of a writer who has left': emits(summarised),
    'was updated': emits(summarised),
    'has the message': emits(summarised),
    'has the changed message': emits(summarised),
    'has the message, and only its head is loaded': emits(summarised),
    'had its past erased': emits(),
    'has messages that are not loaded': emits(summarised),
    'has other messages, and the message is known to be missing': emits(summarised),
    'has a summary': emits(),
  },
  carrySummary: {
    ...each(emits()),
    'has the message': emits(summarised),
    'has the changed message': emits(summarised),
    'has the message, and only its head is loaded': emits(summarised),
    'had its past erased': emits(summarised),
    'has messages that are not loaded': emits(summarised),
    'has other messages, and the message is known to be missing': emits(summarised),
  },
  arrive: {
    ...each(rejects('exists')),
    'never existed': emits(arriving()),
    'was deleted': emits(arriving([{ createdAt: NOON, deletedAt: NOON + 1_000, messageCount: 0 }])),
    'is being moved here': emits(),
  },
  'arrive, from elsewhere': {
    ...each(rejects('exists')),
    'never existed': emits({ type: 'TraceArriving', data: { ...fromElsewhere, earlier: [] } }),
    'was deleted': emits({
      type: 'TraceArriving',
      data: { ...fromElsewhere, earlier: [{ createdAt: NOON, deletedAt: NOON + 1_000, messageCount: 0 }] },
    }),
  },
  withdraw: { ...each(emits()), 'is being moved here': emits(deleted({ createdAt: LATER, withdrawn: true })) },
  'withdraw, what comes from elsewhere': each(emits()),
}

const keys = <T extends object>(of: T) => Object.keys(of) as (keyof T)[]

for (const intent of keys(intents)) {
  for (const name of keys(states)) {
    const { past, writer, load }: State = states[name]
    test(`${intent}: a trace that ${name}`, () =>
      specs[intent][name](specify(traces, load)(...past).when(intents[intent](writer))))
  }
}

const given = specify(traces)

test('a trace is created with the given fields', () =>
  given()
    .when(upsert(ada, origin, firstFields))
    .emitsThen(unchanged, { type: 'TraceCreated', data: { ...origin, createdBy: 'ada', ...firstFields } }))

const named = { type: 'TraceCreated', data: { ...created.data, model: 'one', modelName: 'One' } } as TraceEvent
test('a new model replaces the model name as well', () => {
  given(named)
    .when(patch(ada, { model: 'two', modelName: 'Two' }))
    .emitsThen(
      unchanged,
      updated({ op: 'replace', path: '/modelName', value: 'Two' }, { op: 'replace', path: '/model', value: 'two' }),
    )
  given(named)
    .when(patch(ada, { model: 'two' }))
    .emitsThen(
      unchanged,
      updated({ op: 'remove', path: '/modelName' }, { op: 'replace', path: '/model', value: 'two' }),
    )
})

test('a title that the writer has not seen is not replaced', () => {
  given(created, updated(titled))
    .when(rename(ada, 'Third', firstFields.title))
    .rejects('changed')
  given(created, updated(titled))
    .when(rename(ada, 'Third', undefined))
    .rejects('changed')
  given(created, updated(titled))
    .when(rename(ada, 'Third', 'Second'))
    .emits(updated({ op: 'replace', path: '/title', value: 'Third' }))
})

test('a given visibility is set; without one only a patch keeps the present one', () => {
  const shown = { visibility: 'public' } as const
  for (const decide of [upsert(ada, origin, shown), replace(ada, shown), patch(ada, shown), patch(ada, {})])
    given(created).when(decide).emitsThen(unchanged, unchanged)
  for (const decide of [upsert(ada, origin, {}), replace(ada, {})])
    given(created).when(decide).emitsThen(unchanged, updated(madePrivate))
})

test('an update moves updatedAt, a summary does not', () => {
  const timesOf = (...events: TraceEvent[]) => {
    const { trace } = foldAll(traces, [created, ...events])
    return trace.is === 'present' && [trace.createdAt - NOON, trace.updatedAt - NOON]
  }
  assert.equal(timesOf(unchanged), [0, 1_000])
  assert.equal(timesOf(added(message), counts(1)), [0, 1_000])
  assert.equal(timesOf(unchanged, summarised), [0, 1_000])
})

test('an erased past leaves the trace as it was, but for its summary', () => {
  const before = foldAll(traces, [...written.past, summarised]).trace
  const { trace } = foldAll(traces, [...written.past, summarised, restated, historyErased])
  assert.ok(before.is === 'present' && trace.is === 'present' && before.summary)
  const { summary: _, ...rest } = before
  assert.equal(trace, { ...rest, ...times, since: 3 })
  given(...written.past, restated, historyErased)
    .when(summarise({ ...summary, since: 3 }, THRESHOLD))
    .emits(summarised)
})

test('a trace that has changed since is not removed, whatever has changed it', () => {
  const second = NOON + 1_000
  for (const change of [unchanged, added(message)]) {
    given(created, change).when(removeUnchanged(second)).emits()
    given(created, change)
      .when(removeUnchanged(second + 1))
      .emits(deleted())
  }
  given(created, summarised)
    .when(removeUnchanged(NOON + 1))
    .emits(deleted())
})

test('a trace that the retention deletes is not kept by a touch', () => {
  given(created)
    .when(touchUnchanged(NOON + 1))
    .emits()
  given(created).when(touchUnchanged(NOON)).emitsThen(unchanged, unchanged)
})

/** No client asks for these. */
const ofTheService = ['summarise', 'removeUnchanged', 'touchUnchanged', 'carrySummary', 'arrive', 'withdraw']

test('a caller who is not a member cannot learn that a trace exists', () => {
  const { past, writer } = states['is of a writer who has left']
  for (const intent of keys(intents)) {
    if (ofTheService.includes(intent.split(',')[0]!)) continue
    const decide = () => intents[intent](writer)(foldAll(traces, past), NOON, NOON)
    assert.throws(decide, (error: unknown) => error instanceof Rejected && error.hidesExistence)
  }
})

test('every intent has a spec for every state', () => {
  assert.equal(keys(specs).sort(), keys(intents).sort())
  for (const intent of keys(specs)) assert.equal(keys(specs[intent]).sort(), keys(states).sort())
})

/** Functions that decide nothing themselves. */
const helpers = ['eitherOf', 'isDue', 'needOf']

test('every decision has specs', async () => {
  const root = join(import.meta.dirname, '..', '..', '..', 'src', 'server', 'trace')
  const files = globSync(['decide*.ts', 'messages/decide*.ts'], { cwd: root })
  const modules = await Promise.all(files.map((file) => import(join(root, file)) as Promise<object>))
  const exported = modules.flatMap((module) =>
    Object.entries(module).filter(([, value]) => typeof value === 'function'),
  )
  const decisions = exported.map(([name]) => name).filter((name) => !helpers.includes(name))
  assert.equal([...new Set(keys(intents).map((intent) => intent.split(',')[0]))].sort(), decisions.sort())
})

test('the states are those that a trace can be in, after each type of event', () => {
  const all: State[] = Object.values(states)
  for (const { is, past } of all) assert.is(foldAll(traces, past).trace.is, is)
  const types = new Set(all.flatMap(({ past }) => past.map(({ type }) => type)))
  assert.equal([...types].sort(), TraceEvent.options.map(({ shape }) => shape.type.value).sort())
  const exampleOf: { readonly [Is in Trace['is']]: string } = { absent: 'never existed', present: 'is the writer’s' }
  assert.equal([...new Set(all.map(({ is }) => is))].sort(), keys(exampleOf).sort())
})

test.run()
