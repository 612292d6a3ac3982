import { AsyncLocalStorage } from 'node:async_hooks'
import type { Client, Permits } from './permits.ts'

/** The service itself: its projections and processes, and what is read once for many clients. */
export const SERVICE: Client = { id: 'service', net: 'service' }

const storage = new AsyncLocalStorage<Client>()

/** Does work for a client: wherever it waits for a connection or a thread, it waits in the line of this client. */
export const actAs = <T>(client: Client, work: () => T): T => storage.run(client, work)

/** The client that the running code works for. */
export const currentClient = (): Client => storage.getStore() ?? SERVICE

/** Does work for a client while it holds a permit of size 1. @throws Busy; the reason of `signal` if it aborts before the work begins */
export const withPermit = async <T>(
  permits: Permits,
  client: Client,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> => {
  const permit = await permits.acquire(client, 1, undefined, signal)
  try {
    return await actAs(client, work)
  } finally {
    permit.release()
  }
}
