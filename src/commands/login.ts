import { askToConfirm } from '../cli/ask.ts'
import { commandName } from '../cli/command-name.ts'
import { exitCodes, UsageError } from '../cli/exit.ts'
import { io } from '../cli/io.ts'
import { printDocument, printLines, say } from '../cli/output.ts'
import { type GivenSecret, readSecret, type Secret } from '../cli/secret.ts'
import { newApiClient } from '../sync/api/client.ts'
import { hasStatus } from '../sync/api/errors.ts'
import { configDir, isUnencrypted, serverAddress } from '../sync/config.ts'
import { logInWithCodehost, newTerminalPrompts } from '../sync/login/codehost-login.ts'
import { readCredentials } from '../sync/login/credentials.ts'
import { type LoggedIn, logInWithDevice } from '../sync/login/device-login.ts'
import { logInWithCode } from '../sync/login/join-login.ts'
import { serverKey } from '../sync/server-key.ts'
import { inviteCode } from './invite.ts'
import { noticedTiming, openAccess } from './support/access.ts'
import { askForName, explainName, openAccount, userText } from './support/account.ts'

type JoinAsDevice = {
  readonly config: string
  readonly server: string
  readonly code: GivenSecret
  readonly newDevice: boolean
  readonly yes: boolean
}

const codeOfDevice: Secret = {
  question: 'Code: ',
  variable: 'TRACEBOOK_JOIN_CODE',
  missing: `No code was given. On a machine that is logged in, create one with: ${commandName} devices add`,
}

/** Asks before this machine changes from its user to another. */
const confirmNewDevice = async ({ config, server, yes }: JoinAsDevice) => {
  const login = (await readCredentials(config, server))?.login
  if (!login || yes) return
  if (!io().stdin.isTTY) throw new UsageError('This needs confirmation, but there is no terminal: confirm with --yes.')
  const isMeant = await askToConfirm(
    `This machine is logged in to ${server} as user ${login.userId} (namespace ${login.namespaceSlug}). It will become a device ` +
      'of the user who made the code. The traces of the old user stay on the server, but without another device nobody ' +
      'can log in as that user.',
  )
  if (!isMeant) throw new UsageError('Not confirmed: nothing was changed.')
}

/**
 * Logs this machine in with the code of another one, after confirmation if needed.
 * @throws UsageError without a code or confirmation, and what `logInWithCode` throws
 */
const joinAsDevice = async (options: JoinAsDevice): Promise<LoggedIn> => {
  const { config, server, code: given, newDevice } = options
  if (newDevice) await confirmNewDevice(options)
  const code = await readSecret(given, codeOfDevice)
  const { keptAside, ...loggedIn } = await logInWithCode({ config, server, code, asNewDevice: newDevice }, newApiClient)
  if (keptAside !== undefined) say(`The former device id of this machine was saved in ${keptAside}`)
  return loggedIn
}

type Options = {
  readonly server?: string
  readonly codehost?: boolean
  readonly namespace?: string
  readonly name?: string
  readonly invite?: GivenSecret
  readonly join?: GivenSecret
  readonly newDevice?: boolean
  readonly browser: boolean
  readonly yes?: boolean
  readonly json?: boolean
}

/** Which commands use the login, and what to do next. */
const nextSteps = (server: string, options: Options): readonly string[] => {
  const named = io().env['TRACEBOOK_URL']
  const isOther = options.server !== undefined && named && serverKey(serverAddress(named, {})) !== serverKey(server)
  const sync = `Next, upload your sessions: ${commandName} sync`
  if (isOther)
    return [`TRACEBOOK_URL names another server, ${named}: use --server to choose.`, `${sync} --server ${server}`]
  return options.server === undefined ? [sync] : ['Commands without --server use this server from now on.', sync]
}

/** Suggests the address without its path if nothing answers there. */
const explainPath = (server: string) => (error: unknown) => {
  const { origin, pathname } = new URL(server)
  if (!hasStatus(error, 404) || pathname === '/') throw error
  throw new UsageError(`${server} is not the address of a Tracebook server. Did you mean ${origin}?`)
}

/** Sets the name of --name, or asks for one after an invite. Returns the user's name. */
const giveName = async (
  server: string,
  { name, invite, json }: Options,
  displayName: string | undefined,
): Promise<string | undefined> => {
  const isAsked = displayName === undefined && invite !== undefined && !json
  if (name === undefined && !isAsked) return displayName
  const { account } = await openAccount(openAccess({ server }))
  if (name === undefined) return askForName(account)
  await account.rename(name).catch(explainName)
  return name
}

export const login = async (options: Options): Promise<number> => {
  const { codehost, namespace, browser, yes } = options
  if (namespace !== undefined && !codehost) throw new UsageError('--namespace needs --codehost.')
  if (yes && !codehost && !options.newDevice)
    throw new UsageError('--yes needs --codehost or --new-device; nothing else asks for confirmation.')
  if (options.newDevice && options.join === undefined) throw new UsageError('--new-device needs --join.')
  if (options.join !== undefined && (codehost || options.invite !== undefined))
    throw new UsageError('--join cannot be combined with --codehost or --invite, because it joins an existing user.')
  const invite = options.invite === undefined ? undefined : await readSecret(options.invite, inviteCode)
  const server = serverAddress(options.server, io().env)
  const config = configDir(io().env)
  if (isUnencrypted(server)) say(`Warning: ${server} is not encrypted; others on the network can read your token.`)
  const newClient = (url: string, token?: string) => newApiClient(url, token, noticedTiming)
  const prompts = newTerminalPrompts({ opensBrowser: browser, assumeYes: yes ?? false })
  const { join, newDevice = false } = options
  const loggingIn =
    join !== undefined
      ? joinAsDevice({ config, server, code: join, newDevice, yes: yes ?? false })
      : codehost
        ? logInWithCodehost(
            { config, server, slug: namespace, inviteCode: invite, isLocal: browser, prompts },
            newClient,
          )
        : logInWithDevice(config, server, newClient, invite)
  const loggedIn = await loggingIn.catch(explainPath(server))
  const { userId, namespaceSlug } = loggedIn
  const displayName = await giveName(server, options, loggedIn.displayName)
  if (options.json) {
    const name = displayName === undefined ? {} : { displayName }
    await printDocument({ type: 'login', server, userId, ...name, namespace: namespaceSlug })
    return exitCodes.ok
  }
  const who = userText({ id: userId, displayName })
  await printLines([`Logged in to ${server} as ${who}, namespace ${namespaceSlug}.`, ...nextSteps(server, options)])
  return exitCodes.ok
}
