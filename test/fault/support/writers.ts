import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import { until } from '../../support/until.ts'

/** A service in this process or in another one. */
type Service = {
  call(
    method: 'GET' | 'PUT' | 'POST',
    path: string,
    asking: { readonly token: string; readonly body?: unknown },
  ): Promise<{ readonly status: number; readonly data: never; readonly error: unknown }>
}

const BATCH = 5
export const path = (trace: string) => `/v1/traces/${trace}`
const messagesOf = (batch: number) =>
  Array.from({ length: BATCH }, (_, i) => ({
    externalId: `m${batch * BATCH + i}`,
    role: 'user',
    textContent: `${batch}`,
  }))

/** A client that writes one trace: it sends batch after batch until it is stopped, repeats failed ones, and records the answers. */
export const newWriter = (service: () => Service, token: string) => {
  const trace = randomUUID()
  const statuses = new Set<number>()
  let [acknowledged, stopped, wrong] = [0, false, '']
  const send = async () => {
    const { status, error } = await service().call('POST', `${path(trace)}/messages/batch`, {
      token,
      body: { messages: messagesOf(acknowledged) },
    })
    statuses.add(status)
    if (status === 200) acknowledged += 1
    else if (status !== 503) wrong = `${status} ${JSON.stringify(error)}`
  }
  const run = async () => {
    await service().call('PUT', path(trace), { token, body: {} })
    while (!stopped) await send().catch(() => new Promise((resolve) => setTimeout(resolve, 20)))
  }
  const running = run()
  const stop = () => {
    stopped = true
    return running
  }
  return {
    trace,
    stop,
    acknowledged: () => acknowledged,
    stored: () => acknowledged * BATCH,
    wrong: () => wrong,
    statuses,
  }
}

export type Writer = ReturnType<typeof newWriter>

/** Asserts that the trace has each acknowledged batch once, in order, and at most one more, which was being sent. */
export const assertWhole = async (service: Service, token: string, { trace, acknowledged, wrong }: Writer) => {
  assert.is(wrong(), '')
  const { data } = await service.call('GET', `${path(trace)}/messages`, { token })
  const names = (data as { messages: { externalId: string }[] }).messages.map(({ externalId }) => externalId)
  const batches = names.length / BATCH
  assert.ok(batches === acknowledged() || batches === acknowledged() + 1, `${batches} of ${acknowledged()}`)
  assert.equal(
    names,
    names.map((_, i) => `m${i}`),
  )
  const { trace: detail } = (await service.call('GET', path(trace), { token })).data as {
    trace: { messageCount: number }
  }
  assert.is(detail.messageCount, names.length)
}

/** Waits until so many more batches of each client have been acknowledged. */
export const moreBatches = (writers: readonly Writer[], more: number) => {
  const goals = writers.map((writer) => writer.acknowledged() + more)
  return until(() => writers.every((writer, i) => writer.acknowledged() >= goals[i]!))
}
