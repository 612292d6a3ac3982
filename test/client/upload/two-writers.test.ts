import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { runs } from '../../support/runs.ts'
import type { Machine } from '../support/machine.ts'
import { type RealService, startRealService } from '../support/real-service.ts'
import { answerLine, text, userLine, writeSession } from '../support/session-file.ts'
import { storedOf, tokenOf } from '../support/stored.ts'

const test = suite<{ service: RealService }>('two clients that write to one trace')
test.before(async (context) => void (context.service = await startRealService()))
test.after(({ service }) => service.close())
test.after.each(({ service }) => void (service.gate.pass = async () => {}))

let sessions = 0
const newId = () => `s-${++sessions}`

/** How much a copy of a session has of each of its answers, in parts; the session has as many prompts before them as a batch holds. */
type Copy = readonly number[]
const PROMPTS = 199

const write = ({ sessions: folder }: Machine, id: string, copy: Copy, name = `${id}.jsonl`): string => {
  const prompts = Array.from({ length: PROMPTS }, (_, i) => userLine(`u-${i}`, `prompt ${i}`, { sessionId: id }))
  const answers = copy.flatMap((parts, i) =>
    Array.from({ length: parts }, (_, part) =>
      answerLine(`a-${i}-${part}`, `m-${i}`, [text(`part ${part}`)], { sessionId: id }),
    ),
  )
  return writeSession(folder, name, [...prompts, ...answers])
}

/** How many parts of each answer the service has. */
const stored = async (machine: Machine, id: string, answers: number): Promise<Copy> => {
  const all = new Map((await storedOf(machine, id)).map(({ externalId, parts }) => [externalId, parts!.length]))
  return Array.from({ length: answers }, (_, i) => all.get(`m-${i}`) ?? 0)
}

/**
 * Runs pieces of work that each send one request after the other, and lets their requests on traces pass one at a time, in an order that `choices`
 * says: each chooses one of those that wait.
 */
const interleave = async (
  { gate }: RealService,
  choices: readonly number[],
  work: readonly (() => Promise<unknown>)[],
) => {
  const waiting: (() => void)[] = []
  let [running, next] = [work.length, 0]
  const letPass = () => {
    if (waiting.length === 0 || waiting.length < running) return
    const index = (choices[next++ % choices.length] ?? 0) % waiting.length
    waiting.splice(index, 1)[0]!()
  }
  gate.pass = async ({ url }) => {
    if (!url.startsWith('/v1/traces/')) return
    await new Promise<void>((pass) => {
      waiting.push(pass)
      letPass()
    })
  }
  const end = () => {
    running--
    letPass()
  }
  try {
    return await Promise.all(work.map((each) => each().finally(end)))
  } finally {
    gate.pass = async () => {}
  }
}

const longest = (...copies: readonly Copy[]): Copy =>
  copies[0]!.map((_, i) => Math.max(...copies.map((copy) => copy[i]!)))

test('in whatever order their requests arrive, the service has the longest version of each message, also after their next run', async ({
  service,
}) => {
  const first = await service.logIn()
  const second = service.another(first)
  const copies = fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { minLength: 1, maxLength: 4 })
  const choices = fc.array(fc.nat(1), { minLength: 1, maxLength: 16 })
  const law = fc.asyncProperty(copies, choices, fc.boolean(), async (both, order, isKnown) => {
    const id = newId()
    const [one, other] = [both.map(([parts]) => parts), both.map(([, parts]) => parts)]
    const before = one.map((parts) => Math.min(1, parts))
    if (isKnown) {
      write(first, id, before)
      await first.sync()
    }
    write(first, id, one)
    write(second, id, other)
    const ran = await interleave(service, order, [() => first.sync(), () => second.sync()])
    const results = ran as Awaited<ReturnType<Machine['sync']>>[]
    assert.equal(
      results.map(({ summary }) => [summary.failed, summary.deleted]),
      [
        [0, 0],
        [0, 0],
      ],
      JSON.stringify(results.map(({ events }) => events)),
    )
    const whole = longest(one, other)
    assert.equal(await stored(first, id, whole.length), whole)
    for (const [machine, copy] of [
      [first, one],
      [second, other],
    ] as const) {
      // Each answer grows by one part, as far as the whole session has it.
      write(
        machine,
        id,
        copy.map((parts, i) => Math.min(parts + 1, whole[i]!)),
      )
      await machine.sync()
      assert.equal(await stored(first, id, whole.length), whole)
    }
  })
  await fc.assert(law, { numRuns: runs(12) })
})

test('a run that finds a session whole and in an older copy loses nothing, in whichever order it reads them', async ({
  service,
}) => {
  for (const isOlderFirst of [true, false]) {
    const [machine, id] = [await service.logIn(), newId()]
    mkdirSync(join(machine.sessions, 'a'))
    mkdirSync(join(machine.sessions, 'b'))
    const [whole, older] = isOlderFirst ? ['b', 'a'] : ['a', 'b']
    write(machine, id, [3, 3], join(whole!, `${id}.jsonl`))
    write(machine, id, [2, 0], join(older!, `${id}.jsonl`))
    for (let run = 0; run < 2; run++) {
      assert.is((await machine.sync()).summary.failed, 0)
      assert.equal(await stored(machine, id, 2), [3, 3])
    }
    write(machine, id, [2, 1], join(older!, `${id}.jsonl`))
    await machine.sync()
    assert.equal(await stored(machine, id, 2), [3, 3])
    write(machine, id, [4, 3], join(whole!, `${id}.jsonl`))
    await machine.sync()
    assert.equal(await stored(machine, id, 2), [4, 3])
  }
})

test('what another machine has more of is not cut when the session grows here', async ({ service }) => {
  const [first, id] = [await service.logIn(), newId()]
  write(first, id, [3])
  await first.sync()
  const second = service.another(first)
  write(second, id, [1])
  await second.sync()
  write(second, id, [2])
  const { events } = await second.sync()
  assert.equal(await stored(first, id, 1), [3])
  assert.match(JSON.stringify(events), 'the service has more of 1 message than this file')
  write(second, id, [4])
  assert.is((await second.sync()).summary.updated, 1)
  assert.equal(await stored(first, id, 1), [4])
})

test('an event that changes no message, such as a new visibility, costs a later sync no reading of messages', async ({
  service,
}) => {
  const [machine, id] = [await service.logIn(), newId()]
  write(machine, id, [1])
  await machine.sync()
  await service.call('PATCH', `/v1/traces/${id}`, { token: await tokenOf(machine), body: { visibility: 'direct' } })
  write(machine, id, [2])
  service.requests.length = 0
  const { summary } = await machine.sync()
  assert.equal([summary.updated, summary.failed], [1, 0])
  const parts = service.requests.filter(({ url }) => url.includes('includeParts=true'))
  assert.equal(parts, [])
})

test.run()
