import { commandName } from '../cli/command-name.ts'
import type { Listener, RealtimeClient, State } from '../realtime/client/client.ts'
import { followMessages } from '../realtime/client/messages.ts'
import type { FeedTraceValue, MessageList, MessageValue } from '../realtime/client/queries.ts'
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
  /** The session behind the token has been revoked, or has expired. */
  readonly sessionEnded: () => void
  /** The slug of the session's active namespace now; undefined without one. */
  readonly activeNamespace: () => Promise<string | undefined>
  /** The session has another active namespace than the one that is followed: its user was removed from that, or has switched. */
  readonly namespaceLeft: (slug: string) => void
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

const missing = (externalId: string, isLoggedIn: boolean): string =>
  isLoggedIn
    ? `There is no trace "${externalId}" that you may read; waiting for it.`
    : `There is no public trace "${externalId}"; waiting for it. To follow a private one, log in: ${commandName} login`

const followTrace = async (options: FollowOptions, externalId: string) => {
  const { client, token, atFirst, revisionOf, printer, failed } = options
  const revision = await revisionOf(externalId)
  const shown = revision === undefined ? ({ messages }: MessageList) => messages : newestUntil(revision, atFirst)
  const gone = () => printer.gone(missing(externalId, token !== undefined))
  followMessages(
    client,
    { externalId, authToken: token, includeParts: true },
    { changed: (list) => printer.messages(shown(list)), gone, failed },
  )
  watchSession(options)
}

/** How many traces a feed is followed over: each change sends all of them. */
const FEED = 200

/**
 * Shows the feed of a namespace. That of a session becomes the one of another namespace when the user is removed from the first:
 * its traces say so, and where there are none the session is asked.
 */
const followNamespace = (options: FollowOptions, slug: string) => {
  const { client, token, atFirst, printer, failed, sessionEnded, activeNamespace, namespaceLeft } = options
  const checkEmpty = async () => {
    if ((await activeNamespace()) !== slug) namespaceLeft(slug)
  }
  const value = (traces: readonly FeedTraceValue[] | null) => {
    if (!traces) return sessionEnded()
    if (traces.some(({ namespace }) => namespace.slug !== slug)) return namespaceLeft(slug)
    printer.traces(traces, atFirst)
    // A failure is told by the connection, which is made again then and gives the feed anew.
    if (traces.length === 0) checkEmpty().catch(() => {})
  }
  client.subscribe('feed:getNamespaceTraces', { authToken: token, limit: FEED }, { value, failed })
}

/** Begins to show what is followed; it ends when the client is closed. */
export const follow = async (options: FollowOptions): Promise<void> => {
  const { client, followed, atFirst, printer, failed } = options
  switch (followed.is) {
    case 'trace':
      return followTrace(options, followed.externalId)
    case 'namespace':
      return followNamespace(options, followed.slug)
    case 'public': {
      const value = (traces: readonly FeedTraceValue[]) => printer.traces(traces, atFirst)
      client.subscribe('feed:getPublicTraces', { limit: FEED }, { value, failed })
    }
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
