import type { Listener, RealtimeClient, State } from '../realtime/client/client.ts'
import { followMessages } from '../realtime/client/messages.ts'
import type { MessageList, MessageValue } from '../realtime/client/queries.ts'
import type { Printer } from './printers.ts'

/** What is followed, and as whom. */
export type Followed =
  | { readonly is: 'trace'; readonly externalId: string }
  | { readonly is: 'namespace'; readonly slug: string }
  | { readonly is: 'public' }

export type FollowOptions = {
  readonly client: RealtimeClient
  readonly followed: Followed
  readonly token: string | undefined
  /** How much of what is there already is shown. */
  readonly atFirst: number
  /** The revision of a trace; undefined for one that is not there, or may not be read. */
  readonly revisionOf: (externalId: string) => Promise<number | undefined>
  readonly printer: Printer
  readonly failed: NonNullable<Listener<never>['failed']>
}

/** Of the messages that are told until a revision is reached, the newest so many; then whatever is told. */
const newestUntil = (revision: number, count: number) => {
  let kept: Map<string, MessageValue> | undefined = new Map()
  return (list: MessageList): readonly MessageValue[] => {
    if (!kept) return list.messages
    for (const message of list.messages) {
      kept.delete(message.id)
      kept.set(message.id, message)
    }
    const newest = count === 0 ? [] : [...kept.values()].slice(-count)
    kept = list.revision >= revision ? undefined : new Map(newest.map((message) => [message.id, message]))
    return kept ? [] : newest
  }
}

const followTrace = async (options: FollowOptions, externalId: string) => {
  const { client, token, atFirst, revisionOf, printer, failed } = options
  const revision = await revisionOf(externalId)
  const shown = revision === undefined ? ({ messages }: MessageList) => messages : newestUntil(revision, atFirst)
  const gone = () => printer.gone(`There is no trace "${externalId}" that you may read; waiting for it.`)
  followMessages(
    client,
    { externalId, authToken: token, includeParts: true },
    { changed: (list) => printer.messages(shown(list)), gone, failed },
  )
}

/** How many traces a feed is followed over: older ones are not told of. */
const FEED = 1_000

/** Begins to show what is followed; it ends when the client is closed. */
export const follow = async (options: FollowOptions): Promise<void> => {
  const { client, followed, token, atFirst, printer, failed } = options
  switch (followed.is) {
    case 'trace':
      return followTrace(options, followed.externalId)
    case 'namespace': {
      const value: Listener<Parameters<Printer['traces']>[0] | null>['value'] = (traces) =>
        traces ? printer.traces(traces, atFirst) : printer.gone(`You may not read "${followed.slug}" any more.`)
      client.subscribe('feed:getNamespaceTraces', { authToken: token, limit: FEED }, { value, failed })
      return
    }
    case 'public':
      client.subscribe(
        'feed:getPublicTraces',
        { limit: FEED },
        { value: (traces) => printer.traces(traces, atFirst), failed },
      )
  }
}

/** What is said of the connection: that it was lost, once, and that it is there again. */
export const newConnectionNotice = (say: (text: string) => void): ((state: State) => void) => {
  let isLost = false
  return (state) => {
    if (state.is === 'waiting' && !isLost) say('The connection was lost; connecting again …')
    if (state.is === 'open' && isLost) say('Connected again.')
    if (state.is !== 'connecting') isLost = state.is === 'waiting'
  }
}
