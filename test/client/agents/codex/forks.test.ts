import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { codex } from '../../../../src/client/agents/codex/index.ts'
import {
  answer,
  call,
  event,
  item,
  line,
  meta,
  output,
  prompt,
  text,
  turn,
  uuidAt,
  write,
} from '../../support/codex-file.ts'
import { assertGrowth } from '../../support/growth.ts'
import { readSession } from '../../support/read-session.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('forks of a Codex session')
const { path, remove } = tempFolder()
test.after(remove)

const parentId = uuidAt('2026-02-01T10:00:00Z')
const forkId = uuidAt('2026-02-01T12:00:00Z')
const old = [uuidAt('2026-02-01T10:01:00Z'), uuidAt('2026-02-01T10:02:00Z')]
const own = [uuidAt('2026-02-01T12:00:00.001Z'), uuidAt('2026-02-01T12:05:00Z')]

/** What a turn writes: older versions write the prompt before the `turn_context`, newer ones after it. */
const turnLines = (turnId: string | undefined, name: string, form: 'old' | 'new' = 'new') => {
  const asked = [prompt(`${name}?`), event('user_message', { message: `${name}?` })]
  const context = [turn(turnId, `model-${name}`)]
  return [
    ...(form === 'old' ? [...asked, ...context] : [event('task_started', { turn_id: turnId }), ...context, ...asked]),
    call({ call_id: `call-${name}` }),
    output('x', { call_id: `call-${name}` }),
    answer(`${name}.`),
    event('token_count'),
    event('task_complete', { turn_id: turnId }),
  ]
}

const parentLines = (ids: readonly (string | undefined)[], form?: 'old' | 'new') => [
  meta(parentId),
  ...ids.flatMap((id, index) => turnLines(id, `parent${index}`, form)),
]
const forkMeta = (more = {}) => meta(forkId, { forked_from_id: parentId, cwd: '/w/fork', ...more })
/** A sub-agent that was given its parent's turns. */
const childMeta = (more = {}) => forkMeta({ parent_thread_id: parentId, ...more })

const nameOf = (id: string) => `rollout-2026-02-01T10-00-00-${id}.jsonl`
const day = (number: number) => `sessions/2026/02/${String(number).padStart(2, '0')}`

const readFork = async (home: string, lines: readonly string[]) => {
  const { session, messages } = await readSession(write(home, `${day(2)}/${nameOf(forkId)}`, text(lines)), codex)
  const texts = messages.flatMap(({ parts }) => (parts[0]?.type === 'text' ? parts[0].content.text : []))
  return { session, messages, texts }
}
let homes = 0
const newHome = () => join(path, `home-${++homes}`)

const copies = ['parent0?', 'parent0.', 'parent1?', 'parent1.']

for (const form of ['new', 'old'] as const) {
  const head = parentLines(old, form)
  const ownLines = [...turnLines(own[0], 'own0', form), ...turnLines(own[1], 'own1', form)]
  const [lines, childLines] = [forkMeta, childMeta].map((first) => [first(), ...head, ...ownLines])

  test(`a fork has what its file has, also what it has copied of its origin (${form} versions, rule 9)`, async () => {
    const { session, messages, texts } = await readFork(newHome(), lines!)
    assert.equal(texts, [...copies, 'own0?', 'own0.', 'own1?', 'own1.'])
    assert.is(messages.length, 16)
    const { title, projectPath, parentExternalId, parentKind } = session.trace
    assert.equal([session.externalId, title, projectPath], [forkId, 'parent0?', '/w/fork'])
    assert.equal([parentExternalId, parentKind], [parentId, 'fork'])
  })

  test(`a sub-agent begins with its own turn, not with those that it was given (${form} versions, rule 9)`, async () => {
    const { session, messages, texts } = await readFork(newHome(), childLines!)
    assert.equal(texts, ['own0?', 'own0.', 'own1?', 'own1.'])
    assert.is(messages.length, 8)
    assert.equal([session.trace.title, session.trace.model], ['own0?', 'model-own0'])
    assert.equal([session.trace.parentExternalId, session.trace.parentKind], [parentId, undefined])
  })

  test(`the origin's file is not looked at (${form} versions, rule 9)`, async () => {
    const [home, alone] = [newHome(), newHome()]
    write(home, `${day(1)}/${nameOf(parentId)}`, text(head))
    assert.equal((await readFork(home, lines!)).messages, (await readFork(alone, lines!)).messages)
  })

  test(`a fork and a sub-agent keep their messages when they grow (${form} versions, rule 9)`, async () => {
    for (const each of [lines, childLines]) await assertGrowth(codex, join(path, nameOf(forkId)), text(each!))
  })
}

test('a fork of today has only what is new, and names what it is based on (rule 9)', async () => {
  const based = { history_base: { thread_id: parentId, end_ordinal_exclusive: 54, end_byte_offset: 59_166 } }
  const applied = event('thread_settings_applied', { thread_id: forkId })
  const lines = [forkMeta(based), applied, line('compacted', { message: 'sum' }), ...turnLines(own[0], 'own0')]
  const { session, texts } = await readFork(newHome(), lines)
  assert.equal(texts, ['sum', 'own0?', 'own0.'])
  assert.equal([session.trace.parentExternalId, session.trace.parentKind], [parentId, 'fork'])
  await assertGrowth(codex, join(path, nameOf(forkId)), text(lines))
})

test('turns with ids of another kind are kept, because nothing shows that they are copies (rule 9)', async () => {
  const lines = [childMeta(), ...parentLines(['turn-a', 'turn-b']), ...turnLines('turn-c', 'own0')]
  assert.equal((await readFork(newHome(), lines)).texts, [...copies, 'own0?', 'own0.'])
})

test('only copied turns at the start of a sub-agent are skipped (rule 9)', async () => {
  const lines = [childMeta(), ...turnLines(old[0], 'head'), ...turnLines(own[0], 'own'), ...turnLines(old[1], 'late')]
  assert.equal((await readFork(newHome(), lines)).texts, ['own?', 'own.', 'late?', 'late.'])
})

test('a sub-agent without a turn of its own has no messages yet, and a fork those of its origin (rule 9)', async () => {
  assert.equal((await readFork(newHome(), [forkMeta(), ...parentLines(old)])).texts, copies)
  const { messages, session } = await readFork(newHome(), [childMeta(), ...parentLines(old)])
  assert.equal(messages, [])
  assert.is(session.externalId, forkId)
  assert.is(session.trace.title, undefined)
})

test('turns without ids, from old versions, are skipped as copies if the sub-agent also has turns with ids (rule 9)', async () => {
  const lines = [childMeta(), ...parentLines([undefined]), ...turnLines(own[0], 'own0')]
  assert.equal((await readFork(newHome(), lines)).texts, ['own0?', 'own0.'])
  const without = [childMeta(), ...parentLines([undefined]), ...turnLines(undefined, 'own0')]
  assert.equal((await readFork(newHome(), without)).texts, ['parent0?', 'parent0.', 'own0?', 'own0.'])
})

test('a sub-agent of a fork skips the turns copied from both', async () => {
  const grandparent = meta(uuidAt('2026-02-01T09:00:00Z'))
  const lines = [
    childMeta(),
    parentLines([])[0]!,
    grandparent,
    ...parentLines(old).slice(1),
    ...turnLines(own[0], 'own0'),
  ]
  assert.equal((await readFork(newHome(), lines)).texts, ['own0?', 'own0.'])
})

test('a sub-agent that started without its parent’s turns keeps all its own turns', async () => {
  const lines = [
    meta(forkId, {
      parent_thread_id: parentId,
      source: { subagent: { thread_spawn: { parent_thread_id: parentId } } },
    }),
    ...turnLines(old[0], 'own0'),
  ]
  assert.equal((await readFork(newHome(), lines)).texts, ['own0?', 'own0.'])
})

test('compactions and developer messages among the copied turns are skipped too', async () => {
  const developer = item({ type: 'message', role: 'developer', content: [] })
  const lines = [
    childMeta(),
    ...parentLines(old),
    line('compacted', { message: 'sum' }),
    developer,
    line('world_state', {}),
    ...turnLines(own[0], 'own0', 'old'),
  ]
  assert.equal((await readFork(newHome(), lines)).texts, ['own0?', 'own0.'])
})

test('an invalid id of an origin is no obstacle', async () => {
  for (const parent of ['', 7, '..', '../../etc/passwd'])
    assert.ok(
      (await readFork(newHome(), [forkMeta({ forked_from_id: parent }), ...turnLines('t', 'own0')])).texts.length,
    )
})

test('of two sub-agents that name each other the older one has started the younger one', async () => {
  const startedBy = async (id: string, parent: string) => {
    const lines = [meta(id, { parent_thread_id: parent }), prompt('look')]
    return (await readSession(write(path, `each-other/${nameOf(id)}`, text(lines)), codex)).session.trace
      .parentExternalId
  }
  assert.equal([await startedBy(parentId, forkId), await startedBy(forkId, parentId)], [undefined, parentId])
})

test.run()
