import type { EventLog, ExpectedRevision, RecordedEvent } from '../log/log.ts'
import { metadataOf } from '../log/metadata.ts'
import type { Codec } from './codec.ts'
import { skippedOf } from './skip-events.ts'
import { type DomainEvent, type Loaded, type StreamKind, streamName } from './stream.ts'
import type { StateSource } from './load-state.ts'

/** Folds a stream's events, as read from the log, into its state; skipped events are left out. @throws UnknownEvent */
export const foldStream = async <State, Event extends DomainEvent>(
  kind: StreamKind<State, Event>,
  log: EventLog,
  codec: Codec,
  id: string,
): Promise<Loaded<State>> => {
  // A skipped event is left out even if `evolve` could read it, because read models do not show it.
  const skipped = await skippedOf(log, codec, streamName(kind, id))

  const evolve = (state: State, recorded: RecordedEvent): State => {
    if (skipped.has(recorded.id)) return state
    const { at, actor } = metadataOf(recorded)
    return kind.evolve(state, codec.decode(recorded) as Event, { at, actor })
  }

  let loaded: Loaded<State> = { state: kind.initial(), revision: 'none' as ExpectedRevision, at: 0, position: 0n }
  for await (const recorded of log.read(streamName(kind, id))) {
    const { revision, position, id } = recorded
    const { at } = metadataOf(recorded)
    loaded = { state: evolve(loaded.state, recorded), revision, at, position, anchor: { position, id } }
  }
  return loaded
}

/** A source that folds the whole stream, for kinds of streams that stay short. */
export const foldSource = <State, Event extends DomainEvent>(
  kind: StreamKind<State, Event>,
  log: EventLog,
  codec: Codec,
): StateSource<State, void> => ({ load: (id) => foldStream(kind, log, codec, id), readsLog: true })
