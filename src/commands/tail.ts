import { io } from '../cli/io.ts'
import { say } from '../cli/output.ts'
import { UsageError, exitCodes } from '../cli/exit.ts'
import { commandName } from '../cli/command-name.ts'
import { parseExact } from '../base/json/exact.ts'
import { newRealtimeClient } from '../contract/realtime-client/client.ts'
import { newAccountClient } from '../client/api/account.ts'
import { sessionHasEnded } from '../client/login/connect.ts'
import { ownOutput } from '../client/report/reporters.ts'
import { type FollowTarget, follow, newConnectionNotice } from '../client/tail/follow.ts'
import { jsonPrinter, textPrinter } from '../client/tail/printers.ts'
import { type Access, noticedTiming } from './support/access.ts'
import { nameTrace } from './support/find-trace.ts'
import type { ClientOptions } from './support/access.ts'

type Options = ClientOptions & { readonly public?: boolean; readonly lines: number }

/** What is followed, and with which token; without one only public content. */
type Choice = { readonly access: Access; readonly followed: FollowTarget; readonly token: string | undefined }

/** The token for a trace; undefined without a login, and for a link to a namespace that the user is not a member of. */
const tokenFor = async (
  access: Access,
  isLink: boolean,
  namespace: string | undefined,
): Promise<string | undefined> => {
  if (namespace === undefined && (await access.token()) === undefined) return undefined
  try {
    return (await access.connect({ readOnly: false })).token
  } catch (error) {
    if (isLink && error instanceof UsageError) return undefined
    throw error
  }
}

const chooseTrace = async (given: Access, name: string, options: Options): Promise<Choice> => {
  const { access, externalId, isLink } = await nameTrace(given, options, name)
  if (externalId !== name && !isLink) say(`Following ${externalId}`)
  return { access, followed: { is: 'trace', externalId }, token: await tokenFor(access, isLink, options.namespace) }
}

const choose = async (given: Access, name: string | undefined, options: Options): Promise<Choice> => {
  if (options.public) return { access: given, followed: { is: 'public' }, token: undefined }
  if (name !== undefined) return chooseTrace(given, name, options)
  const { token, namespaceSlug: slug } = await given.connect({ readOnly: false })
  return { access: given, followed: { is: 'namespace', slug }, token }
}

const noLongerActive = (slug: string): UsageError =>
  new UsageError(
    `"${slug}" is no longer the active namespace of your session: you were removed from it, or have switched to another one. ` +
      `To list your namespaces, run: ${commandName} namespaces`,
  )

/** Follows until the service refuses. @throws Error then; UsageError when the session has ended */
const followUntilRefused = async (given: Access, name: string | undefined, options: Options): Promise<never> => {
  const { access, followed, token } = await choose(given, name, options)
  const { server } = access
  const client = newRealtimeClient({ server, state: newConnectionNotice(say), parse: parseExact })
  const { promise: refusal, reject: refuse } = Promise.withResolvers<never>()
  const following = follow({
    client,
    followed,
    token,
    atFirst: options.lines,
    revisionOf: access.api(token).traceRevision,
    printer: options.json ? jsonPrinter(ownOutput()) : textPrinter(ownOutput()),
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

export const tail = async (access: Access, options: Options, name: string | undefined): Promise<number> => {
  if (options.public && (name !== undefined || options.namespace !== undefined))
    throw new UsageError('--public follows the whole public feed: leave out the id and --namespace.')
  // There is nothing to complete; requests in flight are abandoned.
  const leave = () => process.exit(exitCodes.ok)
  process.once('SIGINT', leave).once('SIGTERM', leave)
  // The reader of a pipe has exited.
  io().stdout.once('error', leave)
  return followUntilRefused(access, name, options)
}
