import { type EventData, type EventStoreDBClient, NO_STREAM, WrongExpectedVersionError } from '@eventstore/db-client'
import { type Appended, type ExpectedRevision, LogChanged, LogUnavailable, WrongRevision } from '../log.ts'
import type { Address } from './address.ts'
import type { Connection } from './connection.ts'
import { hopeless, isNeverSent, isNotLeader } from './errors.ts'
import { newKeyedQueue } from './keyed-queue.ts'

// Of the 100 streams of a connection; more at once are not faster (measured).
const IN_FLIGHT = 64
const RETRY_MS = 50
/** A conflict names a revision some milliseconds before it can be read (measured: half of them 5, at most 76). */
const UNSEEN_MS = 4

export type Writer = {
  /** `stream` is the full name. `assertSame` is asked before each attempt whether the log is still the same. */
  append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly EventData[],
    assertSame?: () => Promise<void>,
  ): Promise<Appended>
  /** Takes no more appends and resolves when all are answered. */
  close(): Promise<void>
}

export type WriterOptions = {
  readonly connection: Connection
  readonly address: Address
  readonly deadlineMs: number
  /** A position that is not before that of an event which has been truncated. */
  readonly head: () => Promise<bigint>
  /** Whether a read of a stream, by its full name, sees a revision. */
  readonly sees: (stream: string, revision: bigint) => Promise<boolean>
  readonly observe?: ((appends: number, events: number, ms: number) => void) | undefined
}

type Waiting = {
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly events: readonly EventData[]
  readonly end: number
  settled: boolean
  /** An attempt may have been stored without our knowing. */
  unsure: boolean
  /** The client of the attempt that has not been answered. */
  inFlight: EventStoreDBClient | undefined
  trouble: unknown
}

/**
 * Appends go one at a time for each stream, 64 at a time in all. What is not a conflict proves nothing, so the same
 * ids go again with the same expected revision, which the server knows to be the same append, until the deadline.
 */
export const newWriter = ({ connection, address, deadlineMs, head, sees, observe }: WriterOptions): Writer => {
  const keyedQueue = newKeyedQueue(IN_FLIGHT)
  let closed = false

  const conflict = (append: Waiting, { actualVersion: actual }: WrongExpectedVersionError) => {
    append.unsure = false // an earlier attempt would have been known by its ids
    return new WrongRevision(append.stream.slice(address.prefix.length), typeof actual === 'bigint' ? actual : 'none')
  }

  /** The server checks revisions before its readers see them. A wait that is in vain ends with the deadline. */
  const untilSeen = async (append: Waiting, { actual }: WrongRevision) => {
    if (actual === 'none') return
    while (!append.settled && !(await sees(append.stream, actual)))
      await new Promise((resume) => setTimeout(resume, UNSEEN_MS))
  }

  const send = async (client: EventStoreDBClient, append: Waiting): Promise<Appended> => {
    const { stream, expected, events, end } = append
    const deadline = Math.max(1, Math.ceil(end - performance.now()))
    const { nextExpectedRevision, position } = await client.appendToStream(stream, [...events], {
      expectedRevision: expected === 'none' ? NO_STREAM : expected, // never ANY: after a restart it is written twice
      credentials: address.credentials,
      requiresLeader: true,
      deadline,
    })
    return { revision: nextExpectedRevision, position: position?.commit ?? (await head()) }
  }

  /** One attempt. Nothing when it failed and may pass another time. */
  const attempt = async (append: Waiting): Promise<Appended | Error | undefined> => {
    const client = connection.client()
    const started = performance.now()
    append.inFlight = client
    try {
      const answer = await send(client, append)
      observe?.(1, append.events.length, performance.now() - started)
      return answer
    } catch (error) {
      if (error instanceof WrongExpectedVersionError) return conflict(append, error)
      const final = hopeless(error, append.unsure ? 'unknown' : false)
      if (final) return final
      append.trouble = error
      if (!isNeverSent(error)) append.unsure = true
      if (isNotLeader(error)) connection.fault()
      else connection.renew(client)
      return undefined
    } finally {
      append.inFlight = undefined
    }
  }

  const append = (
    stream: string,
    expected: ExpectedRevision,
    events: readonly EventData[],
    assertSame: () => Promise<void> = async () => {},
  ) =>
    new Promise<Appended>((resolve, reject) => {
      if (closed) throw new LogUnavailable(false)
      const end = performance.now() + deadlineMs
      const state = { settled: false, unsure: false, inFlight: undefined, trouble: undefined }
      const append: Waiting = { stream, expected, events, end, ...state }
      let release = () => {}
      const settle = (outcome: Appended | Error) => {
        if (append.settled) return
        append.settled = true
        clearTimeout(deadline)
        release() // also when the client's promise never settles
        if (outcome instanceof Error) reject(outcome)
        else resolve(outcome)
      }
      const refuse = () => {
        if (append.inFlight) connection.renew(append.inFlight)
        settle(new LogUnavailable(append.unsure || append.inFlight ? 'unknown' : false, append.trouble))
      }
      const deadline = setTimeout(refuse, deadlineMs)

      const sameLog = async (): Promise<boolean> => {
        try {
          await assertSame()
          return true
        } catch (error) {
          const stored = append.unsure ? 'unknown' : false
          if (error instanceof LogChanged) settle(new LogUnavailable(stored, error, error.message))
          const final = hopeless((error as Error).cause, stored)
          if (final) settle(final)
          append.trouble = error
          return false
        }
      }

      const persist = async () => {
        while (!append.settled) {
          const isSame = await sameLog()
          if (append.settled) return // what has been refused must not be stored after all
          const outcome = isSame ? await attempt(append) : undefined
          if (outcome instanceof WrongRevision) await untilSeen(append, outcome)
          if (outcome) settle(outcome)
          else await new Promise((resume) => setTimeout(resume, RETRY_MS))
        }
      }
      keyedQueue.add(
        stream,
        () =>
          new Promise<void>((resolve) => {
            release = resolve
            if (end - performance.now() < 1) refuse() // it has waited for its turn to the last
            if (append.settled) return resolve()
            persist().catch((error) => settle(error as Error))
          }),
      )
    })

  const close = async () => {
    closed = true
    await keyedQueue.idle()
  }

  return { append, close }
}
