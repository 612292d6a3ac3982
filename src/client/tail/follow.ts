import { commandName } from '../../cli/command-name.ts'
import type { Listener, RealtimeClient, State } from '../../contract/realtime-client/client.ts'
import { followMessages, type MessageList, type MessageValue } from '../../contract/realtime-client/messages.ts'
import type { FeedTraceValue, Printer } from './printers.ts'

/** What `tail` follows: one trace, the active namespace, or all public traces. */
export type FollowTarget =
  | { readonly is: 'trace'; readonly externalId: string }
  | { readonly is: 'namespace'; readonly slug: string }
  | { readonly is: 'public' }

type FollowOptions = {
  readonly client: RealtimeClient
  readonly followed: FollowTarget
  readonly token: string | undefined
  /** How many existing messages or traces are shown first. */
  readonly atFirst: number
  /** The revision of a trace; undefined if it does not exist, or may not be read. */
  readonly revisionOf: (externalId: string) => Promise<number | undefined>
  readonly printer: Printer
  readonly failed: NonNullable<Listener<never>['failed']>
  /** Called when the session of the token was revoked, or has expired. */
  readonly sessionEnded: () => void
  /** The slug of the session's current active namespace, if it has one. */
  readonly activeNamespace: () => Promise<string | undefined>
  /** Called when the session's active namespace is no longer the followed one: its user was removed from it, or has switched. */
  readonly namespaceLeft: (slug: string) => void
}

/** Returns a function that passes on only the newest `count` of the messages up to a revision, and afterwards all messages. */
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

/** The feed is null without a valid token, so a subscription to it reports the end of the session, also for a public trace. */
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
    : `There is no public trace "${externalId}"; waiting for it. To follow a private trace, log in first: ${commandName} login`

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

/** The number of traces of a followed feed. Each change sends all of them. */
const FEED = 200

/**
 * Shows the feed of the session's namespace. If the user is removed from it, the feed becomes that of another namespace: this is
 * detected from its traces or, if there are none, by a request.
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
    // If the request fails, so does the connection; after a reconnect the feed is sent again.
    if (traces.length === 0) checkEmpty().catch(() => {})
  }
  client.subscribe('feed:getNamespaceTraces', { authToken: token, limit: FEED }, { value, failed })
}

/** Shows the messages or traces that are followed, and their changes, until the client is closed. */
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

/** Reports once that the connection was lost, and that it was re-established. */
export const newConnectionNotice = (say: (text: string) => void): ((state: State) => void) => {
  let isLost = false
  return (state) => {
    if (state.is === 'waiting' && !isLost) say('The connection was lost; reconnecting …')
    if (state.is === 'open' && isLost) say('Reconnected.')
    if (state.is !== 'connecting') isLost = state.is === 'waiting'
  }
}
