import type { Listener, RealtimeClient, State } from '../realtime/client/client.ts'
import { followMessages } from '../realtime/client/messages.ts'
import type { MessageList } from '../realtime/client/queries.ts'
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
  /** The messages that are there already; undefined for a trace that is not there, or may not be read. */
  readonly messages: (externalId: string) => Promise<MessageList | undefined>
  readonly printer: Printer
  readonly failed: NonNullable<Listener<never>['failed']>
}

const followTrace = async (options: FollowOptions, externalId: string) => {
  const { client, token, atFirst, messages, printer, failed } = options
  const gone = () => printer.gone(`There is no trace "${externalId}" that you may read; waiting for it.`)
  const list = await messages(externalId)
  if (list && atFirst > 0) printer.messages(list.messages.slice(-atFirst))
  followMessages(
    client,
    { externalId, authToken: token, includeParts: true, changedSince: list?.revision },
    { changed: ({ messages }) => printer.messages(messages), gone, failed },
  )
}

/** Begins to show what is followed; it ends when the client is closed. */
export const follow = async (options: FollowOptions): Promise<void> => {
  const { client, followed, token, atFirst, printer, failed } = options
  switch (followed.is) {
    case 'trace':
      return followTrace(options, followed.externalId)
    case 'namespace': {
      const value: Listener<Parameters<Printer['traces']>[0] | null>['value'] = (traces) =>
        traces ? printer.traces(traces, atFirst) : printer.gone(`You may not read "${followed.slug}" any more.`)
      client.subscribe('feed:getNamespaceTraces', { authToken: token }, { value, failed })
      return
    }
    case 'public':
      client.subscribe('feed:getPublicTraces', {}, { value: (traces) => printer.traces(traces, atFirst), failed })
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
