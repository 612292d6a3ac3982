import type { Listener, RealtimeClient } from './client.ts'
import type { ArgsOf } from '../../contract/realtime.ts'
import type { MessageList } from './queries.ts'

/** What happens to the messages of a trace. */
export type MessagesListener = Pick<Listener<never>, 'failed'> & {
  /** These messages are new, or other than before. None, when a trace that was gone is there again, and empty. */
  readonly changed: (list: MessageList) => void
  /** All that was told before is gone, or may not be read any more. What is told later is whole. */
  readonly gone: () => void
}

/**
 * Follows the messages of a trace from behind a revision, which a list of them has said; from its beginning without one.
 * Each change is told, also of what happened while there was no connection, and costs what has changed. Gives what ends it.
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
