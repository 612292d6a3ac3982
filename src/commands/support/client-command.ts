import { type Command, Option } from 'commander'
import { UsageError, exitOnUsage, runCommand } from '../../cli/exit.ts'
import { type ApiClient, newApiClient } from '../../sync/api/client.ts'
import { hasStatus } from '../../sync/api/errors.ts'
import { type RetryTiming, realTiming, withNotice, withPatience } from '../../sync/api/retry.ts'
import { configDir, serverAddress } from '../../sync/config.ts'
import { type Connection, connect } from '../../sync/login/connect.ts'
import { readCredentials } from '../../sync/login/credentials.ts'
import { type Help, helpText } from './help.ts'

/** The options that client commands share; `namespace` only where a command takes it. */
export type ClientOptions = { readonly server?: string; readonly namespace?: string; readonly json?: boolean }

export const serverOption = (): Option =>
  new Option('--server <url>', 'the server (default: $TRACEBOOK_URL, else that of the last login)')

export const namespaceOption = (what = 'the namespace (default: the one of your login)'): Option =>
  new Option('--namespace <slug>', what)

export const jsonOption = (): Option => new Option('--json', 'JSON on stdout, a document a line')

/** Waits and retries are told on stderr. */
export const noticedTiming: RetryTiming = withNotice(realTiming, (line) => void process.stderr.write(line))

/** The same for a command that goes on for long. */
export const patientTiming: RetryTiming = withNotice(
  withPatience(realTiming),
  (line) => void process.stderr.write(line),
)

/** A server, and the login that is stored for it. */
export type Access = {
  readonly config: string
  readonly server: string
  /** The namespace that the user has named. */
  readonly namespace: string | undefined
  /** The token of the login; undefined without one, which is enough for what is public. */
  readonly token: () => Promise<string | undefined>
  /**
   * Connects as the login, to its namespace or to the one that the user has named. To write in that one, or to subscribe to it,
   * takes a session in it, with `readOnly: false`. @throws UsageError without a login or access, RequestFailed
   */
  readonly connect: (how?: { readonly readOnly?: boolean; readonly timing?: RetryTiming }) => Promise<Connection>
  /** A client of the API without a session, or with the one of a token. */
  readonly api: (token?: string) => ApiClient
}

/** The server that the options, else the environment name. @throws UsageError */
export const openAccess = ({ server: url, namespace }: ClientOptions): Access => {
  const [config, server] = [configDir(process.env), serverAddress(url, process.env)]
  return {
    config,
    server,
    namespace,
    token: async () => (await readCredentials(config, server))?.login?.token,
    connect: ({ readOnly = true, timing = noticedTiming } = {}) =>
      connect({ config, server, slug: namespace, readOnly }, (address, token) => newApiClient(address, token, timing)),
    api: (token) => newApiClient(server, token, noticedTiming),
  }
}

type ClientCommand<Options extends ClientOptions, Args extends readonly unknown[]> = {
  readonly help: Help
  /** What --namespace means; false where the command takes none. */
  readonly namespace?: string | false
  /** Returns the exit code. What it throws is told as `runCommand` does. */
  readonly run: (access: Access, options: Options, ...args: Args) => Promise<number>
}

/** Gives a command, with its own arguments and options, those that client commands share, its help and its action. */
export const clientCommand = <Options extends ClientOptions, Args extends readonly unknown[] = []>(
  command: Command,
  { help, namespace, run }: ClientCommand<Options, Args>,
): Command => {
  if (namespace !== false) command.addOption(namespaceOption(namespace))
  return command
    .addOption(serverOption())
    .addOption(jsonOption())
    .addHelpText('after', helpText(help))
    .exitOverride(exitOnUsage)
    .action(function (this: Command) {
      // A command takes options of its parent too: they are found there when they stand behind the name of the command.
      const options = this.optsWithGlobals<Options>()
      return runCommand(
        async () => run(openAccess(options), options, ...(this.processedArgs as unknown as Args)),
        options.json,
      )
    })
}

/** What a refusal about a namespace means. @throws UsageError for one that is not there; any other error as it is */
export const explainNamespace =
  (slug: string, server: string) =>
  (error: unknown): never => {
    if (hasStatus(error, 404)) throw new UsageError(`There is no namespace "${slug}" at ${server}.`)
    throw error
  }
