import { Command, InvalidArgumentError } from 'commander'
import { say } from '../cli/output.ts'
import { UsageError, exitCodes } from '../cli/exit.ts'
import { commandName } from '../cli/command-name.ts'
import { parseExact } from '../json/exact.ts'
import { newRealtimeClient } from '../realtime/client/client.ts'
import { newAccountClient } from '../sync/api/account.ts'
import { sessionHasEnded } from '../sync/login/connect.ts'
import { type Followed, follow, newConnectionNotice } from '../tail/follow.ts'
import { jsonPrinter, textPrinter } from '../tail/printers.ts'
import { type Access, noticedTiming } from './support/access.ts'
import { type ClientOptions, clientCommand } from './support/client-command.ts'
import type { Help } from './support/help.ts'

type Options = ClientOptions & { readonly public?: boolean; readonly lines: number }

const help: Help = {
  about: `
Shows what is there, and then each change as it happens, until Ctrl-C. Without an externalId:
a line for each trace of your namespace that is new or has changed, of its 200 newest ones.
With one: its messages; calls of tools, their results and thinking on one line each. A lost
connection is made again, and nothing is missed.

Public traces and the public feed need no login.`,
  examples: [
    ['tracebook tail', 'all of your namespace'],
    ['tracebook tail 0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b', 'one trace'],
    ['tracebook tail --public --json', 'the public feed, for a script'],
  ],
  documents: [
    ['{"type":"message","message"}', 'a message that is new or has changed, as the API shows it'],
    ['{"type":"trace","trace"}', 'a trace that is new or has changed, as the feed shows it'],
    ['{"type":"gone"}', 'what was shown is gone, or may not be read any more'],
  ],
  exitCodes: {
    0: 'ended by Ctrl-C',
    1: 'the server refused',
    2: 'wrong usage, not logged in, or logged out or removed from the namespace meanwhile',
  },
}

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

const tail = async (access: Access, options: Options, externalId: string | undefined): Promise<number> => {
  if (options.public && (externalId !== undefined || options.namespace !== undefined))
    throw new UsageError('--public is the whole public feed: leave out the externalId and --namespace')
  // Nothing is left to do: also a request that waits for its answer is given up.
  const leave = () => process.exit(exitCodes.ok)
  process.once('SIGINT', leave).once('SIGTERM', leave)
  // Who reads what is printed has gone.
  process.stdout.once('error', leave)
  return followOn(access, externalId, options)
}

const wholeNumber = (text: string): number => {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0 on.')
  return Number(text)
}

/** `tracebook tail`: follows a trace, a namespace or the public feed. Output and exit codes in its help. */
export const tailCommand = (): Command =>
  clientCommand<Options, [string | undefined]>(
    new Command('tail')
      .argument('[externalId]', 'the trace to follow (default: all of your namespace)')
      .option('--public', 'follow the public feed')
      .option('-n, --lines <count>', 'how many messages or traces to show at first', wholeNumber, 10),
    { help, run: tail },
  )
