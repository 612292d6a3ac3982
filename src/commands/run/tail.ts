import { say } from '../../cli/output.ts'
import { UsageError, exitCodes } from '../../cli/exit.ts'
import { commandName } from '../../cli/command-name.ts'
import { parseExact } from '../../json/exact.ts'
import { newRealtimeClient } from '../../realtime/client/client.ts'
import { newAccountClient } from '../../sync/api/account.ts'
import { sessionHasEnded } from '../../sync/login/connect.ts'
import { type Followed, follow, newConnectionNotice } from '../../tail/follow.ts'
import { jsonPrinter, textPrinter } from '../../tail/printers.ts'
import { type Access, noticedTiming } from '../support/access.ts'
import type { Options } from '../tail.ts'

const output = { out: process.stdout, err: process.stderr }

/** What is followed, and the token that it is read with; none of both where there is no login and none is needed. */
const choose = async (
  { token: storedToken, connect }: Access,
  externalId: string | undefined,
  options: Options,
): Promise<{ followed: Followed; token: string | undefined }> => {
  if (options.public) return { followed: { is: 'public' }, token: undefined }
  const needsLogin = externalId === undefined || options.namespace !== undefined
  if (!needsLogin && (await storedToken()) === undefined)
    return { followed: { is: 'trace', externalId }, token: undefined }
  const { token, namespaceSlug: slug } = await connect({ readOnly: false })
  const followed: Followed = externalId === undefined ? { is: 'namespace', slug } : { is: 'trace', externalId }
  return { followed, token }
}

const noLongerActive = (slug: string): UsageError =>
  new UsageError(
    `"${slug}" is not the active namespace of your session any more: you were removed from it, or have switched to another. ` +
      `Yours are listed by: ${commandName} switch`,
  )

/** Follows until the service refuses. @throws Error when it does, UsageError when the session has ended */
const followOn = async (access: Access, externalId: string | undefined, options: Options): Promise<never> => {
  const { server } = access
  const { followed, token } = await choose(access, externalId, options)
  const client = newRealtimeClient({ server, state: newConnectionNotice(say), parse: parseExact })
  const { promise: refusal, reject: refuse } = Promise.withResolvers<never>()
  const following = follow({
    client,
    followed,
    token,
    atFirst: options.lines,
    revisionOf: access.api(token).traceRevision,
    printer: options.json ? jsonPrinter(output) : textPrinter(output),
    failed: ({ message }) => refuse(new Error(message)),
    sessionEnded: () => refuse(sessionHasEnded(server)),
    activeNamespace: async () => (await newAccountClient(server, token!, noticedTiming).session()).namespace?.slug,
    namespaceLeft: (slug) => refuse(noLongerActive(slug)),
  })
  try {
    const [, never] = await Promise.all([following, refusal])
    return never
  } finally {
    client.close()
  }
}

export const tail = async (access: Access, options: Options, externalId: string | undefined): Promise<number> => {
  if (options.public && (externalId !== undefined || options.namespace !== undefined))
    throw new UsageError('--public is the whole public feed: leave out the externalId and --namespace')
  // Nothing is left to do: also a request that waits for its answer is given up.
  const leave = () => process.exit(exitCodes.ok)
  process.once('SIGINT', leave).once('SIGTERM', leave)
  // Who reads what is printed has gone.
  process.stdout.once('error', leave)
  return followOn(access, externalId, options)
}
