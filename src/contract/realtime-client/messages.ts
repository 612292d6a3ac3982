import type { Listener, RealtimeClient } from './client.ts'
import type { ArgsOf, ValueOf } from '../realtime.ts'

/** Messages in list order, and the revision of the trace for them. */
export type MessageList = NonNullable<ValueOf<'traces:getMessages'>>
export type MessageValue = MessageList['messages'][number]

/** Callbacks for the messages of a trace. */
type MessagesListener = Pick<Listener<never>, 'failed'> & {
  /** Called with messages that are new or have changed; with an empty list if a trace that was gone exists again, and has no messages. */
  readonly changed: (list: MessageList) => void
  /** Called if all messages so far were deleted, or may not be read any more. The next list is complete. */
  readonly gone: () => void
}

/**
 * Follows the messages of a trace after a revision, which an earlier list had; without one, from its beginning. Reports every change,
 * including those while there was no connection. Returns a function that ends it.
 */
export const followMessages = (
  client: Pick<RealtimeClient, 'subscribe'>,
  args: ArgsOf<'traces:getMessages'>,
  { changed, gone, failed }: MessagesListener,
): (() => void) => {
  let { changedSince = 0, traceId } = args
  let isGone = false
  const value = (list: MessageList | null) => {
    const wasGone = isGone
    isGone = !list
    changedSince = list?.revision ?? 0
    traceId = list?.traceId
    if (!list) gone()
    else if (list.messages.length > 0 || wasGone) changed(list)
  }
  return client.subscribe(
    'traces:getMessages',
    () => ({ ...args, changedSince, traceId }),
    failed === undefined ? { value } : { value, failed },
  )
}
