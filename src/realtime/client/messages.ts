import type { Listener, RealtimeClient } from './client.ts'
import type { ArgsOf, MessageList } from './queries.ts'

/** What happens to the messages of a trace. */
export type MessagesListener = Pick<Listener<never>, 'failed'> & {
  /** These messages are new, or other than before. */
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
  let changedSince = args.changedSince ?? 0
  const value = (list: MessageList | null) => {
    changedSince = list?.revision ?? 0
    if (!list) gone()
    else if (list.messages.length > 0) changed(list)
  }
  return client.subscribe(
    'traces:getMessages',
    () => ({ ...args, changedSince }),
    failed === undefined ? { value } : { value, failed },
  )
}
