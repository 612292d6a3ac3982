import type { EventLog } from '../../../src/log/log.ts'
import { wholeAppends } from '../../../src/log/whole-appends.ts'

export type OpenOptions = { readonly maxAppendBytes?: number }

/** A kind of log, as the contract sees it. */
export type Adapter = {
  readonly name: string
  /** URL of a module that exports `open: Open`; other processes import it too. */
  readonly module: string
  /** A storage of one's own; foreign events may be in it. `place` says to any process where it is. */
  newPlace(): Promise<Place>
}

/** Appends that have come to a server, and wait there. */
export type Held = {
  isWaiting(): Promise<boolean>
  release(): Promise<void>
}

export type Place = {
  readonly place: string
  drop(): Promise<void>
  /** Has appends wait at the server. Absent for a server that cannot be made to. */
  hold?(): Promise<Held>
}

/** Opens a storage: the adapter alone, without `wholeAppends`. */
export type Open = (place: string, options: OpenOptions) => EventLog

export const opener = async (module: string): Promise<Open> => ((await import(module)) as { open: Open }).open

/** What each test gets: two processes' worth of logs on one storage, and means to open more of them. */
export type World = {
  readonly module: string
  readonly place: string
  readonly log: EventLog
  readonly other: EventLog
  open(options?: OpenOptions): EventLog
  /** Without `wholeAppends`. */
  openBare(options?: OpenOptions): EventLog
  readonly hold: Place['hold']
  /** Closes every log and removes the storage. */
  end(): Promise<void>
}

export const newWorld = async ({ module, newPlace }: Adapter): Promise<World> => {
  const open = await opener(module)
  const { place, drop, hold } = await newPlace()
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
  return { module, place, log: openWhole(), other: openWhole(), open: openWhole, openBare, hold, end }
}
