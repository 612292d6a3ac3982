import fc from 'fast-check'
import type { Model } from '../../../src/contract/models.ts'
import type { Usage } from '../../../src/contract/usage.ts'
import { traceId } from '../../../src/base/ids.ts'
import type { ModelsEvent } from '../../../src/server/models/events.ts'
import type { TraceEvent } from '../../../src/server/trace/events.ts'
import { NOON, type StreamEvent } from '../support.ts'

export const namespaceId = '00000000-0000-4000-8000-000000000001'
export const QUARTER = 900_000
const createdBy = '00000000-0000-4000-8000-00000000000a'

/** A message as it is after its events: when it came, and at which event its usage was written last. */
export type Held = {
  model?: string
  timestamp?: number
  usage?: Usage
  tools: string[]
  readonly at: number
  usedAt?: number
}

/** The fields of a trace that say how its messages are counted. */
type Counted = { agentId: string; projectName?: string; model?: string }

export type HeldTrace = Counted & { readonly createdAt: number; readonly messages: Held[] }

/**
 * What a step does to one of three traces: `message` is the ordinal of the message that an update changes, modulo their number. A `price` is what input of
 * the model m costs from then on.
 */
type Step = {
  readonly trace: number
  readonly does: 'add' | 'update' | 'delete' | 'erase' | 'change' | 'price'
  readonly message: number
  readonly model: string | undefined
  readonly quarter: number | undefined
  readonly usage: Usage | undefined
  readonly tools: string[]
}

const given = ({ model, quarter, usage }: Step) => ({
  ...(model === undefined ? {} : { model }),
  ...(quarter === undefined ? {} : { timestamp: NOON + quarter * QUARTER }),
  ...(usage === undefined ? {} : { usage }),
})

const fixed = { role: 'assistant', class: 'agent_text', parts: [] } as const
const noTypes = { user_message: 0, agent_context: 0, agent_text: 0, agent_thinking: 0, tool_call: 0 }
const noPast = { runs: [], bytes: 0, erased: 1, past: [], earlier: [] }

const catalogue = (input: number) => ({
  name: 'P',
  env: [],
  npm: '',
  doc: '',
  models: { m: { name: 'M', cost: { input } } as unknown as Model },
})

/** The events of steps, what the three traces are after them by their external ids, and the prices of m: each with the event that has set it. */
export const history = (steps: readonly Step[]) => {
  const events: StreamEvent[] = []
  const held = new Map<string, HeldTrace>()
  const prices: { readonly from: number; readonly input: number }[] = []
  const append = (stream: string, event: TraceEvent | ModelsEvent) => {
    events.push({ stream, event, at: NOON + events.length * 1_000 })
    return NOON + (events.length - 1) * 1_000
  }
  const streamOf = (externalId: string) => `trace-${traceId(namespaceId, externalId)}`
  const fieldsOf = (externalId: string, { agentId, projectName, model }: Counted) => ({
    ...{ externalId, namespaceId, createdBy, agentId, visibility: 'private' as const },
    ...(projectName === undefined ? {} : { projectName }),
    ...(model === undefined ? {} : { model }),
  })

  const setPrice = ({ message }: Step) => {
    const data = catalogue(message)
    const patch = [{ op: 'replace', path: '/models/m', value: data.models.m } as const]
    prices.push({ from: events.length, input: message })
    append(
      'models-p',
      prices.length === 1 ? { type: 'ProviderAdded', data } : { type: 'ProviderUpdated', data: { patch } },
    )
  }

  const add = (externalId: string, step: Step) => {
    let present = held.get(externalId)
    if (!present) {
      const counted = { agentId: step.trace === 2 ? 'b' : 'a' }
      const createdAt = append(streamOf(externalId), { type: 'TraceCreated', data: fieldsOf(externalId, counted) })
      held.set(externalId, (present = { ...counted, createdAt, messages: [] }))
    }
    const ordinal = present.messages.length
    const data = { ...fixed, externalId: `m${ordinal}`, ordinal, tools: step.tools, ...given(step) }
    const at = append(streamOf(externalId), { type: 'MessageAdded', data })
    const used = step.usage ? { usedAt: events.length - 1 } : {}
    present.messages.push({ ...given(step), ...used, tools: step.tools, at })
  }

  const update = (externalId: string, { messages }: HeldTrace, step: Step) => {
    const ordinal = step.message % messages.length
    const fields = given(step)
    const patch = Object.entries(fields).map(([name, value]) => ({ op: 'replace', path: `/${name}`, value }) as const)
    const data = { externalId: `m${ordinal}`, ordinal, class: 'agent_text', tools: step.tools, patch } as const
    append(streamOf(externalId), { type: 'MessageUpdated', data })
    const used = step.usage ? { usedAt: events.length - 1 } : {}
    Object.assign(messages[ordinal]!, fields, used, { tools: step.tools })
  }

  const change = (externalId: string, present: HeldTrace, { message, model }: Step) => {
    const fields = {
      agentId: message < 2 ? 'a' : 'b',
      projectName: message % 2 === 0 ? 'p' : 'q',
      ...(model === undefined ? {} : { model }),
    }
    Object.assign(present, fields)
    const patch = Object.entries(fields).map(([name, value]) => ({ op: 'replace', path: `/${name}`, value }) as const)
    append(streamOf(externalId), { type: 'TraceUpdated', data: { patch } })
  }

  const remove = (externalId: string, { messages }: HeldTrace) => {
    held.delete(externalId)
    const data = { externalId, namespaceId, createdBy, createdAt: 0, messageCount: messages.length, earlier: [] }
    append(streamOf(externalId), { type: 'TraceDeleted', data })
  }

  const erase = (externalId: string, present: HeldTrace) => {
    const stream = streamOf(externalId)
    const since = events.filter((event) => event.stream === stream).length
    for (const [ordinal, { at, usedAt, ...message }] of present.messages.entries()) {
      const price = prices.findLast(({ from }) => usedAt !== undefined && from < usedAt)
      const priced = price ? { priced: String(price.from) } : {} // the append of an event is named by its place
      const times = { createdAt: at, updatedAt: at, since }
      const data = { ...fixed, externalId: `m${ordinal}`, namespaceId, ordinal, ...message, ...times, ...priced }
      append(stream, { type: 'MessageRestated', data })
    }
    const totals = { messageCount: present.messages.length, messageTypeCounts: noTypes, toolTypeCounts: {} }
    const times = { createdAt: present.createdAt, updatedAt: present.createdAt }
    const data = { ...fieldsOf(externalId, present), ...times, ...totals, ...noPast, since }
    append(stream, { type: 'HistoryErased', data })
  }

  for (const step of steps) {
    const externalId = `t${step.trace}`
    const present = held.get(externalId)
    if (step.does === 'price') setPrice(step)
    else if (step.does === 'add') add(externalId, step)
    else if (!present) continue
    else if (step.does === 'delete') remove(externalId, present)
    else if (step.does === 'erase') erase(externalId, present)
    else if (step.does === 'change') change(externalId, present, step)
    else if (present.messages.length > 0) update(externalId, present, step)
  }
  return { events, held, prices }
}

const usages: fc.Arbitrary<Usage> = fc.oneof(
  fc.record({ inputTokens: fc.nat(9), responseId: fc.constantFrom('r1', 'r2', 'r3') }),
  fc.record({ outputTokens: fc.nat(9), costUsd: fc.constantFrom(0.25, 0.5) }),
  fc.record(
    {
      inputTokens: fc.nat(300_000),
      cacheReadTokens: fc.nat(9),
      reasoningTokens: fc.nat(9),
      responseId: fc.constantFrom('r1', 'r4'),
    },
    { requiredKeys: ['responseId'] },
  ),
)

export const steps = fc.array(
  fc.record<Step>({
    trace: fc.nat(2),
    does: fc.constantFrom('add', 'add', 'add', 'update', 'update', 'delete', 'erase', 'change', 'price'),
    message: fc.nat(5),
    model: fc.option(fc.constantFrom('m', 'n'), { nil: undefined }),
    // The last one is of the next day of UTC.
    quarter: fc.option(fc.constantFrom(-2, -1, 0, 1, 2, 50), { nil: undefined }),
    usage: fc.option(usages, { nil: undefined }),
    tools: fc.constantFrom([], ['bash'], ['bash', 'edit', 'bash']),
  }),
  { minLength: 1, maxLength: 40, size: 'max' },
)
