import { randomUUID } from 'node:crypto'
import { type Failure, tooSlow, unknown } from './faults.ts'
import { caughtUp, checkpoint, confirmation, eventResponse } from './messages.ts'
import { type ReadCall, fail, send } from './reads.ts'
import type { Record, Store } from './store.ts'
import type { Visibility } from './visibility.ts'

/** One append of 100 events passes, one of 200 drops the subscriber (sheet, 5). */
const TOO_MANY = 150

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
  const [names, types] = [filter?.getStreamIdentifier()?.getPrefixList(), filter?.getEventType()?.getPrefixList()]
  const matches = ({ stream, type }: Record) =>
    (names?.some((prefix) => stream.startsWith(prefix)) ?? true) &&
    (types?.some((prefix) => type.startsWith(prefix)) ?? true)
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
    const push = (records: readonly Record[]) => {
      const wanted = records.filter(matches)
      if (wanted.length > TOO_MANY) return end(subscriber, tooSlow)
      for (const record of wanted) call.write(eventResponse(record))
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
