import { randomUUID } from 'node:crypto'
import { messages } from './corpus.ts'
import { requestBytes, requestRate } from './http.ts'
import type { World } from './world.ts'

export type IngestOptions = {
  /** Makes so many messages of a session. */
  readonly make?: typeof messages
  /** In how many batches a session ends, and another begins. */
  readonly batches?: number
  /** So many messages a second at most. */
  readonly most?: number
}

const BATCH = 200

/** Waits until a batch is due. */
const newPace = (most: number) => {
  const started = performance.now()
  let sent = 0
  return () => {
    const ms = started + ((sent++ * BATCH) / most) * 1_000 - performance.now()
    return ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : undefined
  }
}

/** Messages a second into a service, from 8 clients, each with a trace of its own, in batches of 200. */
export const ingest = async (world: World, ms: number, options: IngestOptions = {}): Promise<number> => {
  const { make = messages, batches: count = 60, most = Infinity } = options
  const pace = newPace(most)
  const { authorization } = await world.signIn('batch-ingest')
  const workers = await Promise.all(
    Array.from({ length: 8 }, async (_, i) => {
      const trace = `batch-${randomUUID()}-${i}`
      await world.call('PUT', `/v1/traces/${trace}`, authorization, {})
      const batches = Array.from({ length: count }, (_, k) =>
        requestBytes(
          'POST',
          `/v1/traces/${trace}/messages/batch`,
          { authorization },
          JSON.stringify({ messages: make(BATCH, k * BATCH, i) }),
        ),
      )
      return { batches, next: 0 }
    }),
  )
  const requests = await requestRate(world.url, workers.length, ms, async (i) => {
    await pace()
    const worker = workers[i]!
    if (worker.next === worker.batches.length) {
      const trace = `batch-${randomUUID()}`
      await world.call('PUT', `/v1/traces/${trace}`, authorization, {})
      const path = Buffer.from(`/v1/traces/${trace}/`)
      worker.batches = worker.batches.map((bytes) =>
        Buffer.concat([Buffer.from('POST '), path, bytes.subarray(bytes.indexOf('messages/batch'))]),
      )
      worker.next = 0
    }
    return worker.batches[worker.next++]!
  })
  return requests * BATCH
}
