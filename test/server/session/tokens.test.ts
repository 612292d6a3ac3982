import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { DecodedEvent } from '../../../src/eventstore/engine/projection.ts'
import type { AnyEvent } from '../../../src/server/events.ts'
import { effectOf } from '../../../src/server/effects.ts'
import { csrfTokenOf, isCsrfToken } from '../../../src/server/http/auth.ts'
import { isToken, newToken } from '../../../src/server/session/tokens.ts'
import { newTokens } from '../../../src/server/session/tokens.ts'

const test = suite('tokens')

/** A read model that answers when it is told to. */
const newWorld = () => {
  const asked: { answer: (position: bigint, role?: string) => void }[] = []
  const clock = { now: 1_000, elapsed: 0, isCurrent: true }
  const rows = () => {
    const { promise, resolve } = Promise.withResolvers<never[]>()
    const answer = (position: bigint, role = 'admin') => {
      const row = { id: 'session', user_id: 'ada', identity_id: 'device', device_name: null, expires_at: 5_000n }
      resolve([{ ...row, position, namespace_id: 'acme', slug: 'acme', role }] as never[])
    }
    asked.push({ answer })
    return promise
  }
  const tokens = newTokens({
    reads: { rows },
    now: () => clock.now,
    elapsed: () => clock.elapsed,
    isCurrent: () => clock.isCurrent,
  })
  return { tokens, asked, clock }
}

const decoded = (event: AnyEvent, position: bigint, streamId = 'acme') => {
  const place = { streamId, stream: `namespace-${streamId}`, revision: 0n, position, at: 0, actor: undefined, bytes: 0 }
  const { callers } = effectOf({ ...event, ...place } as DecodedEvent)
  return { position, callers }
}
const roleChanged = (position: bigint) =>
  decoded({ type: 'MemberRoleChanged', data: { userId: 'ada', role: 'member' } }, position)

const token = newToken()

/** Asks, and answers what is asked. */
const fill = async ({ tokens, asked }: ReturnType<typeof newWorld>, position: bigint, role?: string) => {
  const finding = tokens.find(token)
  asked.at(-1)!.answer(position, role)
  return finding
}

test('a token is looked up once within a second', async () => {
  const world = newWorld()
  assert.is((await fill(world, 1n))?.userId, 'ada')
  world.clock.elapsed = 999
  assert.is((await world.tokens.find(token))?.namespace?.role, 'admin')
  assert.is(world.asked.length, 1)
  world.clock.elapsed = 1_000
  await fill(world, 1n)
  assert.is(world.asked.length, 2)
})

test('an entry is as old as the start of its look-up', async () => {
  const world = newWorld()
  const finding = world.tokens.find(token)
  world.clock.elapsed = 900
  world.asked[0]!.answer(1n)
  await finding
  world.clock.elapsed = 1_000
  await fill(world, 1n)
  assert.is(world.asked.length, 2)
})

test('nothing is served from memory while the log is silent', async () => {
  const world = newWorld()
  await fill(world, 1n)
  world.clock.isCurrent = false
  await fill(world, 1n)
  assert.is(world.asked.length, 2)
})

test('simultaneous requests share one look-up', async () => {
  const { tokens, asked } = newWorld()
  const finding = [tokens.find(token), tokens.find(token), tokens.find(token)]
  asked[0]!.answer(1n)
  for (const caller of await Promise.all(finding)) assert.is(caller?.userId, 'ada')
  assert.is(asked.length, 1)
})

test('an expired session has no caller, also while it is in memory', async () => {
  const world = newWorld()
  await fill(world, 1n)
  world.clock.now = 5_000
  assert.is(await world.tokens.find(token), undefined)
  assert.is(world.asked.length, 1)
})

for (const [title, event] of [
  ['another role', roleChanged(2n)],
  ['a removal', decoded({ type: 'MemberRemoved', data: { userId: 'ada' } }, 2n)],
  ['a new membership', decoded({ type: 'MemberJoined', data: { userId: 'ada', role: 'member' } }, 2n)],
  ['a switch', decoded({ type: 'SessionSwitched', data: { namespaceId: 'x' } }, 2n, 'session')],
  ['a removed identity', decoded({ type: 'IdentityRemoved', data: { identityId: 'device' } }, 2n, 'ada')],
  ['the end of the session', decoded({ type: 'SessionRevoked', data: {} }, 2n, 'session')],
] as const) {
  test(`${title} is looked up again at once`, async () => {
    const world = newWorld()
    await fill(world, 1n)
    world.tokens.observe(event)
    assert.is((await fill(world, 2n, 'member'))?.namespace?.role, 'member')
    assert.is(world.asked.length, 2)
  })
}

test('an event about others keeps the entry', async () => {
  const world = newWorld()
  await fill(world, 1n)
  world.tokens.observe(decoded({ type: 'MemberRemoved', data: { userId: 'bob' } }, 2n))
  await world.tokens.find(token)
  assert.is(world.asked.length, 1)
})

test('a look-up is not kept if its snapshot is older than a change that came meanwhile', async () => {
  const world = newWorld()
  const finding = world.tokens.find(token)
  world.tokens.observe(roleChanged(2n))
  world.asked[0]!.answer(1n)
  await finding
  assert.is((await fill(world, 2n, 'member'))?.namespace?.role, 'member')
  await world.tokens.find(token)
  assert.is(world.asked.length, 2)
})

test('a request after a change does not share a look-up from before it', async () => {
  const { tokens, asked } = newWorld()
  const before = tokens.find(token)
  tokens.observe(roleChanged(2n))
  const after = tokens.find(token)
  asked[0]!.answer(1n)
  await before
  await new Promise((resolve) => setImmediate(resolve))
  asked[1]!.answer(2n, 'member')
  assert.is((await after)?.namespace?.role, 'member')
})

test('a text that is not a token is never looked up', async () => {
  const { tokens, asked } = newWorld()
  for (const text of ['', 'tb_', 'garbage', `${token}x`, ` ${token}`, `tb_${'ä'.repeat(43)}`, 'x'.repeat(10_000)]) {
    assert.is(await tokens.find(text), undefined)
  }
  assert.is(asked.length, 0)
})

/** Counts what is looked up, and lets nothing through once it is closed. */
const newGate = () => {
  const gate = { passed: 0, isClosed: false }
  const beforeLookUp = () => {
    if (gate.isClosed) throw new Error('closed')
    gate.passed += 1
  }
  return { gate, beforeLookUp }
}

test('a token that was never valid is looked up only if the limit allows it', async () => {
  const { gate, beforeLookUp } = newGate()
  let asked = 0
  const rows = async () => {
    asked += 1
    return [{ position: 1n, id: null }] as never[]
  }
  const tokens = newTokens({ reads: { rows }, now: Date.now, isCurrent: () => true })
  for (const expected of [1, 2]) {
    assert.is(await tokens.find(token, beforeLookUp), undefined)
    assert.is(gate.passed, expected)
  }
  gate.isClosed = true
  for (const made of [token, newToken()]) {
    const error = await tokens.find(made, beforeLookUp).catch((reason: Error) => reason)
    assert.is((error as Error).message, 'closed')
  }
  assert.is(asked, 2)
})

test('a token that was valid is looked up again regardless of the limit', async () => {
  const world = newWorld()
  const { gate, beforeLookUp } = newGate()
  await fill(world, 1n)
  gate.isClosed = true
  world.clock.elapsed = 5_000
  const found = world.tokens.find(token, beforeLookUp)
  world.asked.at(-1)!.answer(1n)
  assert.is((await found)?.userId, 'ada')
  assert.is(world.asked.length, 2)
})

test('a token that has become invalid is looked up once more, and then only if the limit allows it', async () => {
  const { gate, beforeLookUp } = newGate()
  let id: string | null = 'session'
  const row = {
    position: 1n,
    user_id: 'ada',
    identity_id: 'device',
    device_name: null,
    expires_at: null,
    namespace_id: null,
  }
  const rows = async () => [{ ...row, id }] as never[]
  const tokens = newTokens({ reads: { rows }, now: Date.now, isCurrent: () => false })
  await tokens.find(token, beforeLookUp)
  id = null
  await tokens.find(token, beforeLookUp)
  assert.is(gate.passed, 1)
  await tokens.find(token, beforeLookUp)
  assert.is(gate.passed, 2)
})

test('a failed look-up is repeated', async () => {
  let calls = 0
  const rows = () => Promise.reject(new Error(`away ${++calls}`))
  const tokens = newTokens({ reads: { rows }, now: Date.now, isCurrent: () => true })
  for (const message of ['away 1', 'away 2']) {
    const error = await tokens.find(token).catch((reason: Error) => reason)
    assert.is((error as Error).message, message)
  }
})

test('tokens hold 256 random bits, and bind a CSRF token', () => {
  assert.ok(isToken(token))
  assert.is(Buffer.from(token.slice(3), 'base64url').length, 32)
  assert.is.not(newToken(), newToken())
  assert.ok(isCsrfToken(csrfTokenOf(token), token))
  for (const wrong of [undefined, '', 'x', token, csrfTokenOf(newToken()), [csrfTokenOf(token)]])
    assert.not.ok(isCsrfToken(wrong, token))
})

test.run()
