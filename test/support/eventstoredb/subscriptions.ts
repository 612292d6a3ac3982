import { randomUUID } from 'node:crypto'
import { type Failure, tooSlow, unknown } from './faults.ts'
import { caughtUp, checkpoint, confirmation, eventResponse } from './messages.ts'
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { type ReadCall, fail, send } from './reads.ts'
import type { Record, Store } from './store.ts'
import type { Visibility } from './visibility.ts'

/** One append of 100 events passes, one of 200 drops the subscriber; with a few bytes for each 200 pass, and 500 do not (sheet, 5). */
const TOO_MANY = 150
const TOO_MANY_SMALL = 400

/** Of a filter that does not say how far it is to search at once. */
const SEARCH_WINDOW = 32

export type Drop = 'slow' | 'silently' | 'frozen'

type Filter = {
  readonly matches: (record: Record) => boolean
  /** So many events lie between two checkpoints; there are none without a filter. */
  readonly window: number
}

const filterOf = (call: ReadCall): Filter => {
  const filter = call.request.getOptions()!.getFilter()
  type Expression = ReturnType<NonNullable<typeof filter>['getStreamIdentifier']>
  const testOf = (expression: Expression) => {
    if (!expression) return () => true
    const [regex, prefixes] = [expression.getRegex(), expression.getPrefixList()]
    if (regex !== '') return (text: string) => new RegExp(regex).test(text)
    return (text: string) => prefixes.some((prefix) => text.startsWith(prefix))
  }
  const [isName, isType] = [testOf(filter?.getStreamIdentifier()), testOf(filter?.getEventType())]
  const matches = ({ stream, type }: Record) => isName(stream) && isType(type)
  const searched = filter?.hasMax() ? filter.getMax() : SEARCH_WINDOW
  const window = filter ? searched * filter.getCheckpointintervalmultiplier() : Number.POSITIVE_INFINITY
  return { matches, window }
}

/** Where a subscription to everything begins. At a scavenged event the next survivor is lost. */
const startOf = (store: Store, call: ReadCall): number => {
  const all = call.request.getOptions()!.getAll()!
  if (all.hasStart()) return 0
  if (all.hasEnd()) return store.all().length
  const [commit, prepare] = [all.getPosition()!.getCommitPosition(), all.getPosition()!.getPreparePosition()].map(
    BigInt,
  )
  return store.indexOf(commit!) + (prepare! < commit! ? 0 : 1)
}

/** Subscriptions to everything: exclusive starts, confirmed, then history, then live (sheet, 5). */
export const newSubscriptions = (store: Store, visibility: Visibility, saysCaughtUp = true) => {
  type Live = { readonly call: ReadCall; readonly push: (records: readonly Record[]) => void }
  const live = new Set<Live>()
  let isFrozen = false
  let sentBytes = 0

  const subscribe = async (call: ReadCall) => {
    const options = call.request.getOptions()!
    const position = options.getAll()?.getPosition()
    if (position && !store.isReadable(BigInt(position.getCommitPosition())))
      return fail(call, unknown('Exception was thrown by handler.'))
    const { matches, window } = filterOf(call)
    const start = startOf(store, call)
    if (!(await send(call, confirmation(randomUUID())))) return
    if (window < Number.POSITIVE_INFINITY && !(await send(call, checkpoint(0n)))) return
    for (let at = start; at < visibility.indexed(store.all()).length; at++) {
      const record = store.all()[at]!
      if (matches(record) && !(await send(call, eventResponse(record)))) return
      // What it names has not been looked at itself: a start there includes it.
      const next = store.all()[at + 1]
      if (next && (at + 1 - start) % window === 0 && !(await send(call, checkpoint(next.position)))) return
    }
    let sinceCheckpoint = 0
    const write = (response: ReadResp) => {
      sentBytes += response.serializeBinary().length
      call.write(response)
    }
    // Of events that do not match there are checkpoints all the same.
    const push = (records: readonly Record[]) => {
      const wanted = records.filter(matches)
      if (wanted.length > TOO_MANY || records.length / window > TOO_MANY_SMALL) return end(subscriber, tooSlow)
      for (const record of records) {
        if (matches(record)) write(eventResponse(record))
        sinceCheckpoint += 1
        if (sinceCheckpoint < window) continue
        write(checkpoint(record.position))
        sinceCheckpoint = 0
      }
    }
    const subscriber = { call, push }
    live.add(subscriber)
    call.on('cancelled', () => live.delete(subscriber))
    if (saysCaughtUp) call.write(caughtUp())
  }

  const end = (subscriber: Live, error?: Failure) => {
    live.delete(subscriber)
    if (error) fail(subscriber.call, error)
    else subscriber.call.end()
  }

  return {
    subscribe,
    publish: (records: readonly Record[]) => {
      if (!isFrozen) for (const { push } of [...live]) push(records)
    },
    count: () => live.size,
    /** The bytes of what live subscriptions were sent. */
    sentBytes: () => sentBytes,
    /** `slow`: with the error that a server sends; `silently`: without one; `frozen`: nothing comes any more, to nobody. */
    drop: (how: Drop) => {
      if (how === 'frozen') isFrozen = true
      else for (const subscriber of [...live]) end(subscriber, how === 'slow' ? tooSlow : undefined)
    },
    /** New subscriptions work again; those that there are stay dead. */
    thaw: () => {
      live.clear()
      isFrozen = false
    },
  }
}

export type Subscriptions = ReturnType<typeof newSubscriptions>
