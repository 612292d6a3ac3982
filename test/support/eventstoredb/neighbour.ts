import { randomUUID } from 'node:crypto'
import type { Double } from './server.ts'

/** Another application on a server, which writes an event every so many milliseconds, until `stop`. */
export const startNeighbour = ({ store, subscriptions }: Double, everyMs: number) => {
  const writeOne = () => {
    const [data, metadata] = [Buffer.from('{}'), Buffer.alloc(0)]
    const event = { id: randomUUID(), type: 'Other', contentType: 'application/json', data, metadata }
    const outcome = store.append('other', 'any', [event], Date.now())
    if (outcome.is === 'stored') subscriptions.publish(outcome.fresh)
  }
  const timer = setInterval(writeOne, everyMs)
  return { stop: () => clearInterval(timer) }
}
