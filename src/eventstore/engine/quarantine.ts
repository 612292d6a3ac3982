import pg from 'pg'
import type { RecordedEvent } from '../log/log.ts'
import { metadataOf } from '../log/metadata.ts'
import type { Client } from './checkpoint.ts'
import { UnknownEvent } from './codec.ts'
import { InQuarantine } from './rejected.ts'

/**
 * A stream with an event that a projection cannot apply, listed in the transaction of the batch. Its later events are not applied,
 * its rows stay as they were before the event, and all other streams go on. All fields but `stream` are about the first event that
 * could not be applied.
 */
export type QuarantinedStream = {
  readonly stream: string
  readonly position: bigint
  readonly revision: bigint
  readonly eventId: string
  readonly type: string
  /** Why it could not be applied, without any content of the event. */
  readonly reason: string
  /** When the event was recorded, in milliseconds. */
  readonly at: number
}

export const quarantineTables = `
  create table quarantine (
    stream text collate "C" primary key, position int8 not null, revision int8 not null, event_id uuid not null,
    type text collate "C" not null, reason text not null, at int8 not null
  );`

/** Why an event cannot be applied: only the constraint or the SQLSTATE, because the server's details quote values of the event. */
const reasonOf = (error: unknown): string => {
  if (error instanceof UnknownEvent) return error.message
  if (error instanceof pg.DatabaseError)
    return error.constraint ? `it violates ${error.constraint}` : `PostgreSQL refused it with error ${error.code}`
  return `a projection failed with ${error instanceof Error ? error.name : 'an unknown error'}`
}

export const quarantinedBy = (event: RecordedEvent, error: unknown): QuarantinedStream => {
  const { stream, position, revision, id, type } = event
  return { stream, position, revision, eventId: id, type, reason: reasonOf(error), at: metadataOf(event).at }
}

/** The statement that puts a stream into quarantine. */
export const insertQuarantined = ({ stream, position, revision, eventId, type, reason, at }: QuarantinedStream) => ({
  text: `insert into quarantine (stream, position, revision, event_id, type, reason, at) values ($1, $2, $3, $4, $5, $6, $7)`,
  values: [stream, position, revision, eventId, type, reason, at],
})

type Row = {
  stream: string
  position: bigint
  revision: bigint
  event_id: string
  type: string
  reason: string
  at: bigint
}

export const readQuarantine = async (client: Client, schema: string): Promise<QuarantinedStream[]> => {
  const { rows } = await client.query<Row>(`select * from ${schema}.quarantine order by position`)
  return rows.map(({ event_id: eventId, at, ...row }) => ({ ...row, eventId, at: Number(at) }))
}

/** A text that changes with each stream of the list, and with the position of its first bad event. */
export const quarantineKey = (list: readonly QuarantinedStream[]) =>
  list.map(({ stream, position }) => `${stream}@${position}`).join()

/** This node's copy of the list of streams in quarantine. Their rows may be wrong, so no query uses them. */
export const newQuarantine = () => {
  let current: readonly QuarantinedStream[] = []
  let streams = new Set<string>()
  const listeners: (() => void)[] = []

  /** Whether none of these streams is in quarantine. */
  const isNotQuarantined = (...names: string[]) => streams.size === 0 || !names.some((name) => streams.has(name))

  /** @throws InQuarantine if one of these streams is */
  const assertNotQuarantined = (...names: string[]) => {
    for (const name of names) if (streams.has(name)) throw new InQuarantine(name.slice(0, name.indexOf('-')))
  }

  /** Replaces the list by the one of the read models. */
  const set = (list: readonly QuarantinedStream[]) => {
    if (quarantineKey(list) === quarantineKey(current)) return
    current = list
    streams = new Set(list.map(({ stream }) => stream))
    for (const listener of listeners) listener()
  }

  return {
    list: () => current,
    isNotQuarantined,
    assertNotQuarantined,
    set,

    /** Calls back synchronously when the list has changed. */
    onChange: (listener: () => void) => void listeners.push(listener),
  }
}

export type Quarantine = ReturnType<typeof newQuarantine>
