import { randomUUID } from 'node:crypto'
import { type Failure, tooSlow, unknown } from './faults.ts'
import { caughtUp, confirmation, eventResponse } from './messages.ts'
import { type ReadCall, fail, send } from './reads.ts'
import type { Record, Store } from './store.ts'

/** One append of 100 events passes, one of 200 drops the subscriber (sheet, 5). */
const TOO_MANY = 150

export type Drop = 'slow' | 'silently' | 'frozen'

const matcher = (call: ReadCall): ((record: Record) => boolean) => {
  const filter = call.request.getOptions()!.getFilter()
  const [names, types] = [filter?.getStreamIdentifier()?.getPrefixList(), filter?.getEventType()?.getPrefixList()]
  return ({ stream, type }) =>
    (names?.some((prefix) => stream.startsWith(prefix)) ?? true) &&
    (types?.some((prefix) => type.startsWith(prefix)) ?? true)
}

/** Where a subscription to everything begins. At a scavenged event the next survivor is lost. */
const startOf = (store: Store, call: ReadCall): number => {
  const all = call.request.getOptions()!.getAll()!
  if (all.hasStart()) return 0
  if (all.hasEnd()) return store.all().length
  const position = BigInt(all.getPosition()!.getCommitPosition())
  return store.indexOf(position) + 1
}

/** Subscriptions to everything: exclusive starts, confirmed, then history, then live (sheet, 5). */
export const newSubscriptions = (store: Store) => {
  type Live = { readonly call: ReadCall; readonly push: (records: readonly Record[]) => void }
  const live = new Set<Live>()
  let isFrozen = false

  const subscribe = async (call: ReadCall) => {
    const options = call.request.getOptions()!
    const position = options.getAll()?.getPosition()
    if (position && !store.isReadable(BigInt(position.getCommitPosition())))
      return fail(call, unknown('Exception was thrown by handler.'))
    const isWanted = matcher(call)
    if (!(await send(call, confirmation(randomUUID())))) return
    for (let at = startOf(store, call); at < store.all().length; at++) {
      const record = store.all()[at]!
      if (isWanted(record) && !(await send(call, eventResponse(record)))) return
    }
    const push = (records: readonly Record[]) => {
      const wanted = records.filter(isWanted)
      if (wanted.length > TOO_MANY) return end(subscriber, tooSlow)
      for (const record of wanted) call.write(eventResponse(record))
    }
    const subscriber = { call, push }
    live.add(subscriber)
    call.on('cancelled', () => live.delete(subscriber))
    call.write(caughtUp())
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
    /** `slow`: with the error of the sheet; `silently`: without one; `frozen`: nothing comes any more, to nobody. */
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
