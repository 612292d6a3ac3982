import { Command, InvalidArgumentError } from 'commander'
import { escapeControls } from '../cli/escape.ts'
import { UsageError, exitCodes, exitOnUsage, runCommand } from '../cli/exit.ts'
import { parseExact } from '../json/exact.ts'
import { newRealtimeClient } from '../realtime/client/client.ts'
import { newApiClient } from '../sync/api/client.ts'
import { configDir, serverAddress } from '../sync/config.ts'
import { connect, sessionHasEnded } from '../sync/login/connect.ts'
import { readCredentials } from '../sync/login/credentials.ts'
import { type Followed, follow, newConnectionNotice } from '../tail/follow.ts'
import { jsonPrinter, textPrinter } from '../tail/printers.ts'

type Options = {
  readonly server?: string
  readonly namespace?: string
  readonly public?: boolean
  readonly lines: number
  readonly json?: boolean
}

const help = `
Shows what is there, and then each change as it happens, until Ctrl-C. Without an externalId:
a line for each trace of your namespace that is new or has changed, of its 200 newest ones.
With one: its messages; calls of tools, their results and thinking on one line each. A lost
connection is made again, and nothing is missed.

  tracebook tail
  tracebook tail 0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b
  tracebook tail --public

Public traces and the public feed need no login.

With --json, stdout holds one JSON document a line:
  {"type":"message","message"}   a message that is new or has changed, as the API shows it
  {"type":"trace","trace"}       a trace that is new or has changed, as the feed shows it
  {"type":"gone"}                what was shown is gone, or may not be read any more
  {"type":"error","message","exitCode"}   instead, when it could not begin or go on

Environment:
  TRACEBOOK_URL         the server, when --server is not given
  TRACEBOOK_CONFIG_DIR  the folder for tokens and state, instead of the platform's own

Exit codes:
  0  ended by Ctrl-C
  1  the server refused
  2  wrong usage, not logged in, or logged out meanwhile`

const output = { out: process.stdout, err: process.stderr }

/** What is followed, and the token that it is read with; none of both where there is no login and none is needed. */
const choose = async (
  externalId: string | undefined,
  server: string,
  options: Options,
): Promise<{ followed: Followed; token: string | undefined }> => {
  const config = configDir(process.env)
  if (options.public) return { followed: { is: 'public' }, token: undefined }
  const needsLogin = externalId === undefined || options.namespace !== undefined
  if (!needsLogin && !(await readCredentials(config, server))?.login)
    return { followed: { is: 'trace', externalId }, token: undefined }
  const { token } = await connect({ config, server, slug: options.namespace, readOnly: false }, newApiClient)
  const followed: Followed = externalId === undefined ? { is: 'namespace' } : { is: 'trace', externalId }
  return { followed, token }
}

/** Follows until the service refuses. @throws Error when it does, UsageError when the session has ended */
const followOn = async (externalId: string | undefined, options: Options): Promise<never> => {
  const server = serverAddress(options.server, process.env)
  const { followed, token } = await choose(externalId, server, options)
  const say = (text: string) => void process.stderr.write(`${escapeControls(text)}\n`)
  const client = newRealtimeClient({ server, state: newConnectionNotice(say), parse: parseExact })
  const { promise: refusal, reject: refuse } = Promise.withResolvers<never>()
  const following = follow({
    client,
    followed,
    token,
    atFirst: options.lines,
    revisionOf: newApiClient(server, token).traceRevision,
    printer: options.json ? jsonPrinter(output) : textPrinter(output),
    failed: ({ message }) => refuse(new Error(message)),
    sessionEnded: () => refuse(sessionHasEnded(server)),
  })
  try {
    const [, never] = await Promise.all([following, refusal])
    return never
  } finally {
    client.close()
  }
}

const tail = async (externalId: string | undefined, options: Options): Promise<number> => {
  if (options.public && (externalId !== undefined || options.namespace !== undefined))
    throw new UsageError('--public is the whole public feed: leave out the externalId and --namespace')
  // Nothing is left to do: also a request that waits for its answer is given up.
  const leave = () => process.exit(exitCodes.ok)
  process.once('SIGINT', leave).once('SIGTERM', leave)
  // Who reads what is printed has gone.
  process.stdout.once('error', leave)
  return followOn(externalId, options)
}

const wholeNumber = (text: string): number => {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0 on.')
  return Number(text)
}

/** `tracebook tail`: follows a trace, a namespace or the public feed. Output and exit codes in its help. */
export const tailCommand = (): Command =>
  new Command('tail')
    .argument('[externalId]', 'the trace to follow (default: all of your namespace)')
    .option('--server <url>', 'the server (default: $TRACEBOOK_URL or http://127.0.0.1:3000)')
    .option('--namespace <slug>', 'the namespace (default: the one of your login)')
    .option('--public', 'follow the public feed')
    .option('-n, --lines <count>', 'how many messages or traces to show at first', wholeNumber, 10)
    .option('--json', 'JSON on stdout, a document a line')
    .addHelpText('after', help)
    .exitOverride(exitOnUsage)
    .action((externalId: string | undefined, options: Options) =>
      runCommand(() => tail(externalId, options), options.json),
    )
