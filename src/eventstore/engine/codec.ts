import type { z } from 'zod'
import { parseExact } from '../../base/json/exact.ts'
import type { RecordedEvent } from '../log/log.ts'
import { metadataOf } from '../log/metadata.ts'
import type { DomainEvent } from './stream.ts'

/** Turns the data of one schema version into that of the next one. */
export type Upcaster = (data: object) => object

/** How the data of one event type is written to the log and read back. */
export type EventFormat = {
  /** Checks the data in its current version. */
  readonly schema: z.ZodType
  /** The version in which events are written now, from 1. */
  readonly version: number
  /** From version n to n + 1, under the key n. */
  readonly upcasters?: { readonly [version: number]: Upcaster }
  /** Writes the data as JSON text; default `JSON.stringify`. */
  readonly write?: (data: never) => string
  /** Converts checked data into the form that the service works with. Default: none. */
  readonly read?: (data: never) => object
}

/** The schema of one event type, as `event` makes it. */
type EventSchema = z.ZodObject<{ readonly type: z.ZodLiteral<string>; readonly data: z.ZodType }>

/** The formats of a union's events in their plainest form: each at version 1, its data as plain JSON text. */
export const formatsOf = (union: { readonly options: readonly EventSchema[] }): Readonly<Record<string, EventFormat>> =>
  Object.fromEntries(union.options.map(({ shape }) => [shape.type.value, { schema: shape.data, version: 1 }]))

export type Codec = {
  /** The JSON text of an event's data and the schema version it has. */
  encode(event: DomainEvent): { data: string; schemaVersion: number }
  /**
   * The data of a recorded event, upcast to the current version. The schema only checks it: unknown members stay.
   * @throws UnknownEvent for a type or version that this code does not know
   */
  decode(event: RecordedEvent): DomainEvent
  /** Checks type and version without parsing the data. @throws UnknownEvent if this code does not know them */
  assertKnown(event: RecordedEvent): void
}

/** An event that this version of the code cannot read. Every reader reports it; none ignores it. */
export class UnknownEvent extends Error {
  override readonly name = 'UnknownEvent'
}

/** The upcasters from a version to the current one; undefined in the place of one that is missing. */
const stepsFrom = ({ version, upcasters }: EventFormat, from: number): readonly (Upcaster | undefined)[] =>
  Array.from({ length: version - from }, (_, i) => upcasters?.[from + i])

/** One codec over all event types of the service. */
export const newCodec = (formats: Readonly<Record<string, EventFormat>>): Codec => {
  const formatOf = (type: string) => {
    const format = Object.hasOwn(formats, type) ? formats[type] : undefined
    if (!format) throw new UnknownEvent(`unknown event type ${type}`)
    return format
  }

  const encode = ({ type, data }: DomainEvent) => {
    const { write = JSON.stringify, version } = formatOf(type)
    return { data: (write as (data: object) => string)(data), schemaVersion: version }
  }

  /** The format of a recorded event, and the schema version it was written in. */
  const formatAndVersion = (event: RecordedEvent) => {
    const format = formatOf(event.type)
    const { schema: schemaVersion } = metadataOf(event)
    if (schemaVersion > format.version)
      throw new UnknownEvent(
        `${event.type} has schema version ${schemaVersion}, but this code knows versions up to ${format.version}: run a newer one`,
      )
    if (stepsFrom(format, schemaVersion).includes(undefined))
      throw new UnknownEvent(
        `${event.type} has schema version ${schemaVersion}, of before the first release, which this code does not read`,
      )
    return { format, schemaVersion }
  }

  const decode = (event: RecordedEvent): DomainEvent => {
    if (event.decoded) return { type: event.type, data: event.decoded.data }
    const { format, schemaVersion } = formatAndVersion(event)
    const steps = stepsFrom(format, schemaVersion) as readonly Upcaster[]
    const data = steps.reduce((current, step) => step(current), parseExact(event.data) as object)
    const checked = format.schema.safeParse(data)
    if (!checked.success)
      throw new UnknownEvent(`${event.type} ${event.id} does not match its schema`, { cause: checked.error })
    return { type: event.type, data: format.read ? (format.read as (data: object) => object)(data) : data }
  }

  return { encode, decode, assertKnown: formatAndVersion }
}
