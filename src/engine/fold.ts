import { type EventLog, type Expected } from '../log/log.ts'
import { metadataOf } from '../log/metadata.ts'
import type { Codec } from './codec.ts'
import { type DomainEvent, type Loaded, type StreamKind, streamOf } from './stream.ts'
import type { Source } from './transact.ts'

/** Adds up a stream's events, as the log has them. */
export const foldStream = async <State, Event extends DomainEvent>(
  kind: StreamKind<State, Event>,
  log: EventLog,
  codec: Codec,
  id: string,
): Promise<Loaded<State>> => {
  let loaded: Loaded<State> = { state: kind.initial(), revision: 'none' as Expected, at: 0, position: 0n }
  for await (const recorded of log.read(streamOf(kind, id))) {
    const { at, actor } = metadataOf(recorded)
    const state = kind.evolve(loaded.state, codec.decode(recorded) as Event, { at, actor })
    loaded = { state, revision: recorded.revision, at, position: recorded.position }
  }
  return loaded
}

/** States of small streams come straight from the log. */
export const foldSource = <State, Event extends DomainEvent>(
  kind: StreamKind<State, Event>,
  log: EventLog,
  codec: Codec,
): Source<State, void> => ({ load: (id) => foldStream(kind, log, codec, id), readsLog: true })
