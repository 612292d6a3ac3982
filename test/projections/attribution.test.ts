import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { attributionGroup } from '../../projections/index.ts'
import type { OneAttributionKey } from '../../src/contract/attribution.ts'
import { newCodec } from '../../src/eventstore/engine/codec.ts'
import { schemaOf } from '../../src/eventstore/engine/group.ts'
import { rebuild } from '../../src/eventstore/engine/rebuild.ts'
import { formats } from '../../src/server/events.ts'
import { known } from '../server/attribution/support/sessions.ts'
import { dumpSchema } from '../support/dump-schema.ts'
import { runs } from '../support/runs.ts'
import { openWorld, signIn } from '../support/world.ts'

const test = suite('projections: attribution')
const { node, database } = await openWorld(test)
const ada = await signIn(node)

const rowsNow = async () => {
  await known(node)
  const { written_files, shown_files } = await dumpSchema(database.url, schemaOf(attributionGroup))
  return { written_files, shown_files }
}

// ---- random sessions. A message has a call, a result, or both; its order is its place, whenever it comes.

const LINES = ['alpha();', 'bravo();', 'charlie', 'deltaaaa', '}', 'echoecho']
const FILES = ['/p/a.ts', '/p/b.ts']

const someText = fc
  .array(fc.constantFrom(...LINES), { maxLength: 6 })
  .map((all) => all.map((one) => `  ${one}\n`).join(''))
const aCall = fc.oneof(
  fc.record({ tool: fc.constant('Write'), path: fc.constantFrom(...FILES), content: someText }),
  fc.record({ tool: fc.constant('Edit'), path: fc.constantFrom(...FILES), old_string: someText, new_string: someText }),
  fc.record({ tool: fc.constant('Read'), path: fc.constantFrom(...FILES) }),
)
const aResult = fc.record({ output: someText, status: fc.constantFrom('success', 'success', 'success', 'error') })
const aStep = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ is: fc.constant('call' as const), trace: fc.nat(2), order: fc.nat(9), call: aCall }),
  },
  {
    weight: 10,
    arbitrary: fc.record({ is: fc.constant('result' as const), trace: fc.nat(2), order: fc.nat(9), result: aResult }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ is: fc.constant('place' as const), trace: fc.nat(2), order: fc.nat(9), place: fc.nat(20) }),
  },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('erase' as const), trace: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('delete' as const), trace: fc.nat(2) }) },
)
type Generated<A> = A extends fc.Arbitrary<infer One> ? One : never
type Step = Generated<typeof aStep>

type Stored = { readonly order: number; readonly part: object }
/** What is in each trace, by the externalId of the message. */
type Traces = Map<number, Map<string, Stored>>

const partOf = (step: Extract<Step, { is: 'call' | 'result' }>) => {
  const callId = `call-${step.order}`
  if (step.is === 'result') return { type: 'tool_result', content: { callId, toolName: 'x', ...step.result } }
  const { tool, ...args } = step.call
  return { type: 'tool_call', content: { callId, toolName: tool, args } }
}

const externalIdOf = (trace: number) => `trace-${trace}`
const urlOf = (trace: number) => `/v1/traces/${externalIdOf(trace)}`

const put = async (traces: Traces, trace: number, id: string, { order, part }: Stored) => {
  if (!traces.has(trace)) await ada.send('PUT', urlOf(trace), { projectPath: '/p' })
  await ada.send('PUT', `${urlOf(trace)}/messages/${id}`, { role: 'assistant', order, timestamp: order, parts: [part] })
  const messages = traces.get(trace) ?? new Map<string, Stored>()
  traces.set(trace, messages.set(id, { order, part }))
}

const run = async (traces: Traces, step: Step) => {
  const messages = traces.get(step.trace)
  switch (step.is) {
    case 'call':
    case 'result': {
      const id = `${step.is}-${step.order}`
      if (step.is === 'result' && !messages?.has(`call-${step.order}`)) return
      const order = messages?.get(id)?.order ?? 2 * step.order + Number(step.is === 'result')
      return put(traces, step.trace, id, { order, part: partOf(step) })
    }
    case 'place': {
      const found = messages?.get(`result-${step.order}`)
      return (
        found &&
        put(traces, step.trace, `result-${step.order}`, { ...found, order: Math.max(step.place, 2 * step.order + 1) })
      )
    }
    case 'erase':
      return messages && void (await ada.send('POST', `${urlOf(step.trace)}/history/erase`))
    case 'delete':
      traces.delete(step.trace)
      return messages && void (await ada.send('DELETE', urlOf(step.trace)))
  }
}

// ---- a slow computation of the same, from what is in the traces now

type Content = { callId: string; toolName: string; args: Record<string, string>; output: string; status: string }
const contentOf = ({ part }: Stored) => (part as { content: Content }).content

const strong = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.length >= 8)
const count = (lines: readonly string[], line: string) => lines.filter((one) => one === line).length
const more = (some: readonly string[], than: readonly string[]) =>
  [...new Set(some)].filter((line) => count(some, line) > count(than, line))

const expectedOf = (messages: ReadonlyMap<string, Stored>) => {
  const calls = [...messages].filter(([id]) => id.startsWith('call-'))
  const shownBefore = (path: string, order: number) =>
    calls.flatMap(([id, call]) => {
      const result = messages.get(id.replace('call', 'result'))
      const { toolName, args } = contentOf(call)
      const isShown = result && toolName === 'Read' && args['path'] === path && result.order < order
      return isShown && contentOf(result).status === 'success' ? strong(contentOf(result).output) : []
    })
  return calls.flatMap(([, call]) => {
    const { toolName, args } = contentOf(call)
    if (toolName === 'Read') return []
    const isWhole = toolName === 'Write'
    const now = strong(isWhole ? args['content']! : args['new_string']!)
    const old = isWhole ? shownBefore(args['path']!, call.order) : strong(args['old_string']!)
    const written = more(now, old)
    const replaced = isWhole ? [...new Set(old)].filter((line) => !now.includes(line)) : more(old, now)
    return written.length === 0 && !isWhole ? [] : [{ at: call.order, written, replaced }]
  })
}

test('rows are those of a slow computation, for any changes, and those of a rebuild', async () => {
  const { key } = await ada.send<OneAttributionKey>('GET', `/v1/namespaces/${ada.namespaceSlug}/attribution-key`)
  const hash = (text: string) =>
    createHmac('sha256', Buffer.from(key.secret, 'base64')).update(text).digest().readBigInt64BE().toString()
  const textOf = new Map(LINES.map((line) => [hash(line), line]))
  const namesOf = (hashes: readonly string[]) => hashes.flatMap((one) => textOf.get(one) ?? []).sort()
  const present: Traces = new Map()
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { minLength: 20, maxLength: 60 }), async (steps) => {
      for (const step of steps) await run(present, step)
      await known(node)
      for (const trace of [0, 1, 2]) {
        const rows = await node.service.attributions.snapshot((read) =>
          read<{ at: bigint; written: string[]; replaced: string[] }>(
            '',
            'select w.at, w.written, w.replaced from traces t join written_files w on w.trace_id = t.id where t.external_id = $1 order by w.at',
            [externalIdOf(trace)],
          ),
        )
        const found = rows.map((row) => ({
          at: Number(row.at),
          written: namesOf(row.written),
          replaced: namesOf(row.replaced),
        }))
        const expected = expectedOf(present.get(trace) ?? new Map())
          .map((one) => ({ ...one, written: one.written.toSorted(), replaced: one.replaced.toSorted() }))
          .sort((a, b) => a.at - b.at)
        assert.equal(found, expected, externalIdOf(trace))
      }
    }),
    { numRuns: runs(4), endOnFailure: true },
  )
  // The last changes may have left nothing.
  for (const order of [0, 1]) {
    const call = { tool: 'Write', path: 'a', content: LINES[order]! } as const
    await run(present, { is: 'call', trace: 3, order, call })
  }
  await known(node)
  const live = await rowsNow()
  assert.ok(live.written_files!.length > 1)
  await rebuild({ url: database.url, group: attributionGroup, log: node.service.log, codec: newCodec(formats) })
  assert.equal(await rowsNow(), live)
})

test('an update of what says nothing of a call leaves its row alone', async () => {
  const call = {
    type: 'tool_call',
    content: { callId: 'c', toolName: 'Write', args: { path: 'a', content: LINES[0] } },
  }
  const { url } = await ada.newTrace({}, [{ externalId: 'm', role: 'assistant', parts: [call] }])
  const before = await rowsNow()
  await ada.send('PUT', `${url}/messages/m`, { role: 'assistant', textContent: 'said', usage: { inputTokens: 3 } })
  assert.equal(await rowsNow(), before)
})

test.run()
