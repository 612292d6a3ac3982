import type { Listener, RealtimeClient, State } from '../realtime/client/client.ts'
import { followMessages } from '../realtime/client/messages.ts'
import type { FeedTraceValue, MessageList, MessageValue } from '../realtime/client/queries.ts'
import type { Printer } from './printers.ts'

/** What is followed, and as whom. */
export type Followed = { readonly is: 'trace'; readonly externalId: string } | { readonly is: 'namespace' | 'public' }

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
  /** The session behind the token has been revoked, or has expired. */
  readonly sessionEnded: () => void
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

/** A feed is null without a valid token: an empty one tells when the session ends, also while a public trace is followed. */
const watchSession = ({ client, token, failed, sessionEnded }: FollowOptions) => {
  if (token === undefined) return
  const value = (feed: unknown) => {
    if (feed === null) sessionEnded()
  }
  client.subscribe('feed:getNamespaceTraces', { authToken: token, limit: 0 }, { value, failed })
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
  watchSession(options)
}

/** How many traces a feed is followed over: each change sends all of them. */
const FEED = 200

/** Begins to show what is followed; it ends when the client is closed. */
export const follow = async (options: FollowOptions): Promise<void> => {
  const { client, followed, token, atFirst, printer, failed, sessionEnded } = options
  const show = (traces: readonly FeedTraceValue[]) => printer.traces(traces, atFirst)
  switch (followed.is) {
    case 'trace':
      return followTrace(options, followed.externalId)
    case 'namespace': {
      const value = (traces: FeedTraceValue[] | null) => (traces ? show(traces) : sessionEnded())
      client.subscribe('feed:getNamespaceTraces', { authToken: token, limit: FEED }, { value, failed })
      return
    }
    case 'public':
      client.subscribe('feed:getPublicTraces', { limit: FEED }, { value: show, failed })
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
