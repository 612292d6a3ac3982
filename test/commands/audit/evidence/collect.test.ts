import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RequestFailed } from '../../../../src/client/api/errors.ts'
import type { ProofsClient } from '../../../../src/client/api/proofs.ts'
import { collectProofs } from '../../../../src/commands/audit/evidence/collect.ts'
import type { WantedSession } from '../../../../src/commands/audit/evidence/lines.ts'
import { newPatience } from '../../../../src/commands/audit/evidence/patience.ts'
import { SessionChanged } from '../../../../src/server/proof/evidence/assemble.ts'

const test = suite('collecting the proofs of sessions')

const notCovered = new RequestFailed('not covered', { status: 404, retryAfterMs: 0 })

/** A service whose sessions have messages of these sizes, and whose newest checkpoint covers more with each look at it. */
const newService = (sizes: Readonly<Record<string, Readonly<Record<string, number>>>>, covered: number[]) => {
  const asked: string[] = []
  const ofMessages: ProofsClient['ofMessages'] = (externalId, _, { messages, size }) => {
    asked.push(`${externalId} ${messages.join('')} ${size ?? 'newest'}`)
    const of = size ?? covered.shift()!
    const needed = Number(externalId.split(' ')[1])
    if (of < needed) return Promise.reject(notCovered)
    const bytes = messages.reduce((sum, message) => sum + (sizes[externalId]?.[message] ?? 1), 0)
    if (bytes > 8) return Promise.reject(new RequestFailed('too large', { status: 400 }))
    const events = messages.map((message) => ({
      message,
      type: 'MessageAdded',
      revision: 0,
      index: 0,
      entry: '',
      proof: [],
    }))
    return Promise.resolve({ size: of, ...(size === undefined ? { checkpoint: `note ${of}` } : {}), events })
  }
  return { asked, client: { ofMessages } }
}

const session = (externalId: string, at: number, messages: string): WantedSession => ({
  ...{ namespace: 'team', traceId: externalId, externalId, agentId: 'codex', at },
  messages: new Set(messages),
})

const collect = async (service: ReturnType<typeof newService>, sessions: readonly WantedSession[]) => {
  let taken: string[] = []
  const large: string[] = []
  const patience = newPatience(new AbortController().signal)
  const tree = await collectProofs({ client: service.client, patience }, sessions, {
    take: async (number, events) => void taken.push(`${number} ${events.map(({ message }) => message).join('')}`),
    tooLarge: (number, message) => void large.push(`${number} ${message}`),
    restart: async () => void (taken = []),
    done: () => {},
  })
  return { tree, taken, large }
}

test('the session that was written last says which tree, and the others are asked for that', async () => {
  const service = newService({}, [5])
  const found = await collect(service, [session('old 1', 1, 'ab'), session('new 5', 2, 'c')])
  assert.equal(service.asked, ['new 5 c newest', 'old 1 ab 5'])
  assert.equal(found, { tree: { size: 5, checkpoint: 'note 5' }, taken: ['1 c', '0 ab'], large: [] })
})

test('a checkpoint that covers the first session is waited for', async () => {
  const service = newService({}, [3, 4, 5])
  assert.is((await collect(service, [session('new 5', 2, 'c')])).tree!.size, 5)
})

test('where the tree does not cover another session, everything is asked for again', async () => {
  const service = newService({}, [5, 7])
  const found = await collect(service, [session('goes-on 7', 1, 'ab'), session('new 5', 2, 'c')])
  assert.equal(service.asked, ['new 5 c newest', 'goes-on 7 ab 5', 'new 5 c newest', 'goes-on 7 ab 7'])
  assert.equal(found, { tree: { size: 7, checkpoint: 'note 7' }, taken: ['1 c', '0 ab'], large: [] })
})

test('fewer messages are asked for where the answer would be too large, and one that is too large alone is left out', async () => {
  const service = newService({ 'a 1': { c: 9, d: 8, e: 8 } }, [1])
  const { taken, large } = await collect(service, [session('a 1', 1, 'abcdef')])
  assert.equal([taken.join('').replaceAll('0 ', ''), large], ['abdef', ['0 c']])
})

test('a session is asked for even if its only message is too large, because it begins with an event', async () => {
  const service = newService({ 'a 1': { b: 9 } }, [1, 1])
  const { tree, taken, large } = await collect(service, [session('a 1', 1, 'b')])
  assert.equal([tree!.size, taken, large], [1, ['0 '], ['0 b']])
})

test('a message that is not there any more ends the work, and so does one that is never covered', async () => {
  const gone = { client: { ofMessages: () => Promise.reject(new RequestFailed('none', { status: 404 })) }, asked: [] }
  const never = new RequestFailed('not covered', { status: 404, retryAfterMs: 21_000 })
  const waits = { client: { ofMessages: () => Promise.reject(never) }, asked: [] }
  const failure = (service: ReturnType<typeof newService>) =>
    collect(service, [session('a 1', 1, 'b')]).catch((error: unknown) => error)
  assert.instance(await failure(gone), SessionChanged)
  assert.match(((await failure(waits)) as Error).message, /^No checkpoint of the log covers everything yet/)
})

test('without sessions nothing is asked', async () => {
  assert.is((await collect(newService({}, []), [])).tree, undefined)
})

test.run()
