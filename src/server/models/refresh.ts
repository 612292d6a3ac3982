import type { Transactor } from '../../eventstore/engine/transact.ts'
import type { Decision } from '../../eventstore/engine/stream.ts'
import { type ProviderState, putProvider, removeProvider } from './decide.ts'
import type { ModelProvider, ModelsEvent } from './events.ts'
import { parseCatalogue } from './parse-catalogue.ts'
import { SourceFailed, readSource } from './source.ts'

type RefreshOptions = {
  readonly transactor: Transactor<ProviderState, ModelsEvent>
  /** The ids of the providers that the registry has. */
  readonly providerIds: () => Promise<readonly string[]>
}

/** The size of the catalogue, and how many providers a refresh has added, updated and removed. */
export type RefreshResult = {
  readonly providers: number
  readonly models: number
  readonly added: number
  readonly updated: number
  readonly removed: number
  readonly etag: string | undefined
  /** The log position that the read models must have reached to show the changes. */
  readonly position: bigint
}

export type Refresh = (source: string, etag: string | undefined, signal: AbortSignal) => Promise<RefreshResult | 'same'>

const CONCURRENCY = 32

const CHANGE_OF = { ProviderAdded: 'added', ProviderUpdated: 'updated', ProviderRemoved: 'removed' } as const

/** Reads and parses a catalogue, unless it still has the given ETag. @throws Error with the reason why it cannot be read */
export const readCatalogue = async (source: string, etag: string | undefined, signal: AbortSignal) => {
  const fetched = await readSource(source, etag, signal)
  return fetched.is === 'same' ? fetched : { ...fetched, providers: parseCatalogue(fetched.text) }
}

type ProviderDecision = { readonly id: string; readonly decide: Decision<ProviderState, ModelsEvent> }

/** Decides on many providers, several at once. Returns how many were changed in which way, and the position of the last event. */
export const changeProviders = async (
  transactor: Transactor<ProviderState, ModelsEvent>,
  decisions: readonly ProviderDecision[],
  signal: AbortSignal,
) => {
  const remaining = decisions.values()
  const changes = { added: 0, updated: 0, removed: 0 }
  let position = 0n
  const work = async () => {
    for (const { id, decide } of remaining) {
      signal.throwIfAborted()
      const answer = (_: ProviderState, events: readonly ModelsEvent[]) => events.map(({ type }) => CHANGE_OF[type])
      const result = await transactor.transact(id, { decide, answer }, {})
      for (const change of result.answer) changes[change] += 1
      if (result.position > position) position = result.position
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  return { ...changes, position }
}

export const countModels = (providers: ReadonlyMap<string, ModelProvider>): number =>
  [...providers.values()].reduce((sum, { models }) => sum + Object.keys(models).length, 0)

/**
 * Returns a function that updates the registry to a catalogue, with events that hold only the differences. It returns `same` if the catalogue
 * still has the given ETag. It appends no event before the whole catalogue was read and parsed.
 * @throws SourceFailed if the source cannot be read or parsed; then the registry does not change
 * @throws Unavailable if the read models or the log cannot be reached; the read models are queried before the download
 */
export const newRefresh =
  ({ transactor, providerIds }: RefreshOptions): Refresh =>
  async (source, etag, signal) => {
    const idsBefore = await providerIds()
    const fetched = await readCatalogue(source, etag, signal).catch((error: Error) => {
      throw new SourceFailed(error.message, { cause: error })
    })
    if (fetched.is === 'same') return 'same'
    const { providers } = fetched
    const removedIds = idsBefore.filter((id) => !providers.has(id))
    const decisions = [
      ...[...providers].map(([id, provider]) => ({ id, decide: putProvider(provider) })),
      ...removedIds.map((id) => ({ id, decide: removeProvider() })),
    ]
    const changed = await changeProviders(transactor, decisions, signal)
    return { providers: providers.size, models: countModels(providers), ...changed, etag: fetched.etag }
  }
