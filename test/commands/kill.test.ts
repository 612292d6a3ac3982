import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { STATE_FILE } from '../../src/client/state/state-file.ts'
import { readSession } from '../client/support/read-session.ts'
import { answerLine, call, result, userLine, writeSession } from '../client/support/session-file.ts'
import { ask, assertSame, type Detail, messagesOf, tokenIn } from './support/api.ts'
import { inFolder } from '../eventstore/embedded/support.ts'
import { start, startService } from './support/processes.ts'
import { newUser } from './support/user.ts'
import { startProxy } from './support/proxy.ts'

const test = suite('kill -9 in the middle of a sync')
const turns = Array.from({ length: 1_600 }, (_, i) => [
  answerLine(`a-${i}`, `m-${i}`, [call(`t-${i}`, 'Bash', { command: `echo ${i}` })]),
  userLine(`u-${i}`, [result(`t-${i}`, `${i}\n`.repeat(20))]),
]).flat()

/** How many messages the client has been told are stored, as it has written down. */
const acknowledged = (config: string): number => {
  const state = new DatabaseSync(join(config, 'data', STATE_FILE), { readOnly: true })
  try {
    return Number(state.prepare('SELECT count(*) AS count FROM message').get()!['count'])
  } finally {
    state.close()
  }
}

/** A service behind an address that stays, a user who is logged in, and a session of 3,200 messages: 16 batches, of which some go out at once. */
const inOwnWorld = (work: (world: Awaited<ReturnType<typeof open>>) => Promise<unknown>) =>
  inFolder(async (folder) => {
    const world = await open(folder)
    try {
      await work(world)
    } finally {
      await world.proxy.close()
    }
    assert.is((await world.current().end('SIGTERM')).how, 0)
  })

const open = async (folder: string) => {
  const dataDir = join(folder, 'data')
  let service = await startService(dataDir)
  const proxy = await startProxy(service.url)
  const user = newUser(folder, proxy.url)
  mkdirSync(join(folder, 'sessions'))
  const file = writeSession(join(folder, 'sessions'), 's-1.jsonl', turns)
  assert.is((await user.run('login')).how, 0)
  const kill = () => {
    proxy.target(undefined)
    return service.end('SIGKILL')
  }
  const restart = async () => {
    service = await startService(dataDir)
    proxy.target(service.url)
  }
  const countStored = async () => {
    const { trace } = await ask<{ trace: Detail }>(service.url, '/v1/traces/s-1', { token: tokenIn(user.config) })
    return trace.messageCount ?? 0
  }
  const assertWhole = async () => {
    const stored = await messagesOf(service.url, 's-1', tokenIn(user.config))
    assertSame(stored, (await readSession(file)).messages)
    assert.is(await countStored(), turns.length)
  }
  return { proxy, user, file, kill, restart, countStored, assertWhole, current: () => service }
}

test('of the service: the sync goes on when it is back, and nothing is lost or doubled', () =>
  inOwnWorld(async ({ proxy, user, file, kill, restart, assertWhole }) => {
    let restarted: Promise<unknown> | undefined
    proxy.onBatch = (count) => {
      if (count === 3) restarted = kill().then(restart)
    }
    const { how, out, err } = await user.run('sync', '--json', file)
    await restarted
    assert.ok(restarted)
    assert.is(how, 0, `${out}${err}`)
    await assertWhole()
  }))

test('of both: what was acknowledged is there, and the next sync sends the rest', () =>
  inOwnWorld(async ({ proxy, user, file, kill, restart, countStored, assertWhole }) => {
    const { child, ended } = start(['sync', file], user.variables)
    proxy.onBatch = (count) => {
      if (count !== 12) return
      child.kill('SIGKILL')
      void kill()
    }
    assert.is((await ended).how, 'SIGKILL')
    await restart()
    proxy.onBatch = () => {}
    const [known, stored] = [acknowledged(user.config), await countStored()]
    assert.ok(known > 0 && known <= stored && stored < turns.length, `${stored} are stored, ${known} acknowledged`)

    const { how, out, err } = await user.run('sync', '--json', file)
    assert.is(how, 0, err)
    const summary = JSON.parse(out.trimEnd().split('\n').at(-1)!)
    assert.is(summary.new, turns.length - stored)
    await assertWhole()
    assert.is((await user.run('sync', file)).out, 'nothing was sent: 1 session unchanged\n')
  }))

test.run()
