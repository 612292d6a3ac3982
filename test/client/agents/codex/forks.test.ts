import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
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

const nameOf = (id: string) => `rollout-2026-02-01T10-00-00-${id}.jsonl`
const day = (number: number) => `sessions/2026/02/${String(number).padStart(2, '0')}`

const readFork = async (home: string, lines: readonly string[]) => {
  const { session, messages } = await readSession(write(home, `${day(2)}/${nameOf(forkId)}`, text(lines)), codex)
  const texts = messages.flatMap(({ parts }) => (parts[0]?.type === 'text' ? parts[0].content.text : []))
  return { session, messages, texts }
}
let homes = 0
const newHome = () => join(path, `home-${++homes}`)

for (const form of ['new', 'old'] as const) {
  const head = parentLines(old, form)
  const lines = [forkMeta(), ...head, ...turnLines(own[0], 'own0', form), ...turnLines(own[1], 'own1', form)]

  test(`a fork without its parent's file begins with its own turn (${form} versions, rule 9)`, async () => {
    const { session, messages, texts } = await readFork(newHome(), lines)
    assert.equal(texts, ['own0?', 'own0.', 'own1?', 'own1.'])
    assert.is(messages.length, 8)
    assert.is(session.externalId, forkId)
    assert.equal(
      [session.trace.title, session.trace.projectPath, session.trace.model],
      ['own0?', '/w/fork', 'model-own0'],
    )
  })

  test(`a fork with its parent's file is read the same (${form} versions, rule 9)`, async () => {
    const [home, alone] = [newHome(), newHome()]
    write(home, `${day(1)}/${nameOf(parentId)}`, text(head))
    const { messages } = await readFork(home, lines)
    assert.equal(messages, (await readFork(alone, lines)).messages)
  })

  test(`a fork keeps its messages when it grows (${form} versions, rule 9)`, async () => {
    await assertGrowth(codex, join(path, nameOf(forkId)), text(lines))
  })
}

const named = ['turn-a', 'turn-b']
const namedFork = [forkMeta(), ...parentLines(named), ...turnLines('turn-c', 'own0')]
const parentPlaces: readonly (readonly [string, string, boolean])[] = [
  ['in the folder of another day', `${day(1)}/${nameOf(parentId)}`, false],
  ['compressed', `${day(1)}/${nameOf(parentId)}.zst`, true],
  ['archived', `archived_sessions/${nameOf(parentId)}`, false],
  ['beside the fork', `${day(2)}/${nameOf(parentId)}`, false],
]
for (const [where, name, compressed] of parentPlaces)
  test(`turns with ids of another kind are looked up in the parent's file, ${where} (rule 9)`, async () => {
    const home = newHome()
    const content = text(parentLines(named))
    write(home, name, compressed ? zstdCompressSync(content) : content)
    assert.equal((await readFork(home, namedFork)).texts, ['own0?', 'own0.'])
  })

test('without the parent’s file, turns with ids of another kind are kept, because they may not be copies (rule 9)', async () => {
  const { texts } = await readFork(newHome(), namedFork)
  assert.equal(texts, ['parent0?', 'parent0.', 'parent1?', 'parent1.', 'own0?', 'own0.'])
})

test('only copied turns at the start of a fork are skipped (rule 9)', async () => {
  const home = newHome()
  write(home, `${day(1)}/${nameOf(parentId)}`, text(parentLines(named)))
  const lines = [
    forkMeta(),
    ...turnLines('turn-a', 'head'),
    ...turnLines('turn-c', 'own'),
    ...turnLines('turn-b', 'late'),
  ]
  assert.equal((await readFork(home, lines)).texts, ['own?', 'own.', 'late?', 'late.'])
})

test('a fork without a turn of its own has no messages yet (rule 9)', async () => {
  const { messages, session } = await readFork(newHome(), [forkMeta(), ...parentLines(old)])
  assert.equal(messages, [])
  assert.is(session.externalId, forkId)
  assert.is(session.trace.title, undefined)
})

test('turns without ids, from old versions, are skipped as copies if the fork also has turns with ids (rule 9)', async () => {
  const lines = [forkMeta(), ...parentLines([undefined]), ...turnLines(own[0], 'own0')]
  assert.equal((await readFork(newHome(), lines)).texts, ['own0?', 'own0.'])
  const without = [forkMeta(), ...parentLines([undefined]), ...turnLines(undefined, 'own0')]
  assert.equal((await readFork(newHome(), without)).texts, ['parent0?', 'parent0.', 'own0?', 'own0.'])
})

test('a fork of a fork skips the turns copied from both', async () => {
  const grandparent = meta(uuidAt('2026-02-01T09:00:00Z'))
  const lines = [
    forkMeta(),
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
    forkMeta(),
    ...parentLines(old),
    line('compacted', { message: 'sum' }),
    developer,
    line('world_state', {}),
    ...turnLines(own[0], 'own0', 'old'),
  ]
  assert.equal((await readFork(newHome(), lines)).texts, ['own0?', 'own0.'])
})

test('a parent with an invalid id is not searched for', async () => {
  for (const parent of ['', 7, '..', '../../etc/passwd'])
    assert.ok(
      (await readFork(newHome(), [forkMeta({ forked_from_id: parent }), ...turnLines('t', 'own0')])).texts.length,
    )
})

test.run()
