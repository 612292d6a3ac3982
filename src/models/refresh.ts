import type { Transactor } from '../engine/transact.ts'
import { parseCatalogue } from './parse-catalogue.ts'
import { type Registered, put, remove } from './decide.ts'
import type { ModelsEvent } from './events.ts'
import { SourceFailed, readSource } from './source.ts'

export type RefreshOptions = {
  readonly transactor: Transactor<Registered, ModelsEvent>
  /** The ids of the providers that the registry has. */
  readonly known: () => Promise<readonly string[]>
}

/** What a refresh found and what it changed; the same catalogue as last time changes nothing. */
export type Refreshed = {
  readonly providers: number
  readonly models: number
  readonly added: number
  readonly updated: number
  readonly removed: number
  readonly etag: string | undefined
  /** What the read models must pass to show it. */
  readonly position: bigint
}

type Refresh = (source: string, etag: string | undefined, signal: AbortSignal) => Promise<Refreshed | 'same'>

const AT_ONCE = 32

const kinds = { ProviderAdded: 'added', ProviderUpdated: 'updated', ProviderRemoved: 'removed' } as const

const readCatalogue = async (source: string, etag: string | undefined, signal: AbortSignal) => {
  const fetched = await readSource(source, etag, signal)
  return fetched.is === 'same' ? fetched : { ...fetched, providers: parseCatalogue(fetched.text) }
}

/**
 * Brings the registry to what a catalogue says, as events that carry only the difference; nothing is appended before
 * the whole catalogue has been read and makes sense.
 * @throws SourceFailed when the source cannot be read: the last good copy stays
 * @throws Unavailable when the read models or the log are away; the former are asked first, so that it costs no download
 */
export const newRefresh =
  ({ transactor, known }: RefreshOptions): Refresh =>
  async (source, etag, signal) => {
    const before = await known()
    const fetched = await readCatalogue(source, etag, signal).catch((error: Error) => {
      throw new SourceFailed(error.message, before.length > 0, error)
    })
    if (fetched.is === 'same') return 'same'
    const { providers } = fetched
    const gone = before.filter((id) => !providers.has(id))
    const left = [
      ...[...providers].map(([id, provider]) => ({ id, decide: put(provider) })),
      ...gone.map((id) => ({ id, decide: remove() })),
    ].values()
    const changes = { added: 0, updated: 0, removed: 0 }
    let position = 0n
    const work = async () => {
      for (const { id, decide } of left) {
        signal.throwIfAborted()
        const answer = (_: Registered, events: readonly ModelsEvent[]) => events.map(({ type }) => kinds[type])
        const outcome = await transactor.transact(id, { decide, answer }, {})
        for (const change of outcome.answer) changes[change] += 1
        if (outcome.position > position) position = outcome.position
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    const models = [...providers.values()].reduce((sum, provider) => sum + Object.keys(provider.models).length, 0)
    return { providers: providers.size, models, ...changes, etag: fetched.etag, position }
  }

export type { Refresh }
