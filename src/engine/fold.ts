import type { EventLog, ExpectedRevision, RecordedEvent } from '../log/log.ts'
import { metadataOf } from '../log/metadata.ts'
import type { Codec } from './codec.ts'
import { skippedOf } from './skipped.ts'
import { type DomainEvent, type Loaded, type StreamKind, streamName } from './stream.ts'
import type { StateSource } from './transact.ts'

/** Adds up a stream's events, as the log has them, but for what was passed over for good. @throws UnknownEvent */
export const foldStream = async <State, Event extends DomainEvent>(
  kind: StreamKind<State, Event>,
  log: EventLog,
  codec: Codec,
  id: string,
): Promise<Loaded<State>> => {
  // Also an event that could be added up may have been passed over: no read model shows what it says.
  const skipped = await skippedOf(log, codec, streamName(kind, id))

  const evolve = (state: State, recorded: RecordedEvent): State => {
    if (skipped.has(recorded.id)) return state
    const { at, actor } = metadataOf(recorded)
    return kind.evolve(state, codec.decode(recorded) as Event, { at, actor })
  }

  let loaded: Loaded<State> = { state: kind.initial(), revision: 'none' as ExpectedRevision, at: 0, position: 0n }
  for await (const recorded of log.read(streamName(kind, id))) {
    const { revision, position } = recorded
    loaded = { state: evolve(loaded.state, recorded), revision, at: metadataOf(recorded).at, position }
  }
  return loaded
}

/** States of small streams come straight from the log. */
export const foldSource = <State, Event extends DomainEvent>(
  kind: StreamKind<State, Event>,
  log: EventLog,
  codec: Codec,
): StateSource<State, void> => ({ load: (id) => foldStream(kind, log, codec, id), readsLog: true })
