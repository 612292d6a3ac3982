import type { EventLog } from '../../../../src/eventstore/log/log.ts'
import { wholeAppends } from '../../../../src/eventstore/log/whole-appends.ts'

export type OpenOptions = { readonly maxAppendBytes?: number }

/** A kind of log, for the tests of the contract. */
export type Adapter = {
  readonly name: string
  /** URL of a module that exports `open: Open`; other processes import it too. */
  readonly module: string
  /** Creates a storage, which may also hold events of others. `place` is its address for any process. */
  newPlace(): Promise<Place>
}

export type Place = {
  readonly place: string
  drop(): Promise<void>
}

/** Opens a storage: the adapter alone, without `wholeAppends`. */
export type Open = (place: string, options: OpenOptions) => EventLog

export const opener = async (module: string): Promise<Open> => ((await import(module)) as { open: Open }).open

/** The scene of a test: two logs on one storage, as of two processes, and functions to open more. */
export type World = {
  readonly module: string
  readonly place: string
  readonly log: EventLog
  readonly other: EventLog
  open(options?: OpenOptions): EventLog
  /** Without `wholeAppends`. */
  openBare(options?: OpenOptions): EventLog
  /** Closes every log and removes the storage. */
  end(): Promise<void>
}

export const newWorld = async ({ module, newPlace }: Adapter): Promise<World> => {
  const open = await opener(module)
  const { place, drop } = await newPlace()
  const logs: EventLog[] = []
  const openBare = (options: OpenOptions = {}) => {
    const log = open(place, options)
    logs.push(log)
    return log
  }
  const openWhole = (options?: OpenOptions) => wholeAppends(openBare(options))
  const end = async () => {
    await Promise.all(logs.map((log) => log.close()))
    await drop()
  }
  return { module, place, log: openWhole(), other: openWhole(), open: openWhole, openBare, end }
}
