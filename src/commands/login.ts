import { askToConfirm } from '../cli/ask.ts'
import { commandName } from '../cli/command-name.ts'
import { exitCodes, UsageError } from '../cli/exit.ts'
import { io } from '../cli/io.ts'
import { printDocument, printLines, say } from '../cli/output.ts'
import { type GivenSecret, readSecret, type Secret } from '../cli/secret.ts'
import { newApiClient, type SignInReview } from '../client/api/client.ts'
import { hasStatus } from '../client/api/errors.ts'
import { configDir, givenAddress, isUnencrypted } from '../client/config.ts'
import { logInWithCodehost, newTerminalPrompts, requireConfirm } from '../client/login/codehost-login.ts'
import { readCredentials, writeCredentials } from '../client/login/credentials.ts'
import { type LoggedIn, logInWithDevice } from '../client/login/device-login.ts'
import { logInWithCode } from '../client/login/join-login.ts'
import {
  askForPerson,
  canAsk,
  type NewPerson,
  type Proposal,
  proposalOf,
  proposalOfSystem,
} from '../client/login/new-person.ts'
import { joinAtNewAddress, logInAtNewAddress } from '../client/login/moved-login.ts'
import { type Recognised, recognise } from '../client/login/recognise.ts'
import { serverKey } from '../client/server-key.ts'
import { inviteCode } from './invite.ts'
import { noticedTiming, openAccess } from './support/access.ts'
import { askForName, explainName, openAccount, userText } from './support/account.ts'

type JoinAsDevice = {
  readonly config: string
  readonly server: string
  readonly found: Recognised
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

/** How to ask on the terminal; undefined without one. */
const terminalConfirm = () => (io().stdin.isTTY && io().stderr.isTTY ? askToConfirm : undefined)

type LoggedInHere = LoggedIn & {
  /** The former address of the service. */
  readonly movedFrom?: string
  /** What the user is called, if this machine had none before. */
  readonly person?: NewPerson | undefined
}

/**
 * Logs this machine in with the code of another one, after confirmation if needed.
 * @throws UsageError without a code or confirmation, and what `logInWithCode` throws
 */
const joinAsDevice = async (options: JoinAsDevice): Promise<LoggedInHere> => {
  const { config, server, found, code: given, newDevice } = options
  if (newDevice) await confirmNewDevice(options)
  const code = await readSecret(given, codeOfDevice)
  const joining = { config, server, code, asNewDevice: newDevice }
  if (found.is !== 'elsewhere') return logInWithCode({ ...joining, log: found.log }, newApiClient)
  return joinAtNewAddress({ ...joining, ...found, confirm: terminalConfirm() }, newApiClient)
}

type Options = {
  readonly server?: string
  readonly codehost?: boolean
  readonly namespace?: string
  readonly name?: string
  readonly slug?: string
  readonly invite?: GivenSecret
  readonly join?: GivenSecret
  readonly newDevice?: boolean
  readonly acceptLog?: string
  readonly browser: boolean
  readonly input: boolean
  readonly yes?: boolean
  readonly json?: boolean
}

/** Which commands use the login, and what to do next. */
const nextSteps = (server: string, options: Options): readonly string[] => {
  const named = io().env['TRACEBOOK_URL']
  const isOther = options.server !== undefined && named && serverKey(givenAddress(named, {})) !== serverKey(server)
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

/** Whether a new user is asked for a name and a slug. */
const asksNewUser = ({ input, json, yes }: Options): boolean => input && !json && !yes && canAsk()

/** What a new user is called: by the options, and on a terminal by what the user answers. @throws UsageError if the input ends first */
const nameNewUser = async (options: Options, proposal: Proposal): Promise<NewPerson> => {
  const { name, slug } = options
  const given = { ...(name === undefined ? {} : { displayName: name }), ...(slug === undefined ? {} : { slug }) }
  return asksNewUser(options) ? askForPerson(given, proposal) : given
}

/** Sets the name of --name, or the one that a new user has answered, or asks for one after an invite. Returns the user's name. */
const giveName = async (
  server: string,
  options: Options,
  { displayName, person }: LoggedInHere,
): Promise<string | undefined> => {
  const name = options.name ?? person?.displayName
  const wasAsked = person !== undefined && asksNewUser(options)
  const isAsked =
    displayName === undefined && options.invite !== undefined && options.input && !options.json && !wasAsked
  if (name === undefined ? !isAsked : name === displayName) return displayName
  const { account } = await openAccount(openAccess({ server }))
  if (name === undefined) return askForName(account)
  await account.rename(name).catch(explainName)
  return name
}

const refusals = {
  taken: 'is taken',
  reserved: 'is reserved',
  invalid: 'cannot be one: it needs 1 to 64 letters from a to z and digits, with single hyphens between them',
} as const

/** Says why the user's namespace has not the slug that was asked for, if it has not. */
const saySlug = (options: Options, { slugRefused, namespaceSlug, person }: LoggedInHere): void => {
  const asked = (person?.slug ?? options.slug)?.trim().toLowerCase()
  if (slugRefused)
    say(
      `The slug "${slugRefused.slug}" ${refusals[slugRefused.reason]}. Your namespace is "${namespaceSlug}"; to have another one, run: ` +
        `${commandName} namespaces create SLUG`,
    )
  else if (asked !== undefined && asked !== namespaceSlug)
    say(`The slug "${asked}" was not used, because this device has a user already.`)
}

/** Said where an address has another log than before. */
const replacedError = (server: string, { known, log }: Extract<Recognised, { is: 'replaced' }>): UsageError => {
  const isPresent = serverKey(known.server) === serverKey(server)
  const who = known.login ? `, where you are user ${known.login.userId},` : ''
  const has = log === undefined ? 'does not say which log it has' : `has the log ${log} now`
  return new UsageError(
    [
      `${server} had the log ${known.log}${who} and ${has}: another service answers there, or its data were replaced. Nothing was made.`,
      ...(isPresent && log !== undefined
        ? [
            `If its log was copied, your device is known there: ${commandName} login --accept-log ${log} --server ${server}`,
          ]
        : []),
      `To become a new user there: ${commandName} login --new-device --server ${server}`,
      ...(isPresent ? [] : [`The service with the former log is at ${known.server}.`]),
    ].join('\n'),
  )
}

/**
 * What the service at an address is to this machine. @throws UsageError if it is another one than before, and that was not accepted by an
 * option; RequestFailed
 */
const recogniseFor = async (
  config: string,
  server: string,
  { acceptLog, newDevice = false, join }: Options,
): Promise<Recognised> => {
  const found = await recognise(config, server, noticedTiming)
  if (found.is !== 'replaced') {
    if (newDevice && join === undefined && found.is !== 'elsewhere')
      throw new UsageError(
        '--new-device needs --join, except where the service is or was known by another log or address.',
      )
    return found
  }
  const { known, log } = found
  if (newDevice) return { is: 'new', log }
  if (log === undefined || acceptLog !== log || serverKey(known.server) !== serverKey(server))
    throw replacedError(server, found)
  await writeCredentials(config, { ...known, log })
  return { is: 'known', log }
}

const refuseCombinations = ({ codehost, namespace, yes, newDevice, join, invite, slug }: Options): void => {
  if (namespace !== undefined && !codehost) throw new UsageError('--namespace needs --codehost.')
  if (yes && !codehost && !newDevice)
    throw new UsageError('--yes needs --codehost or --new-device; nothing else asks for confirmation in advance.')
  if (join !== undefined && (codehost || invite !== undefined))
    throw new UsageError('--join cannot be combined with --codehost or --invite, because it joins an existing user.')
  if (join !== undefined && slug !== undefined)
    throw new UsageError('--join cannot be combined with --slug, which is for a new user.')
}

/** Logs in at an address, in the way that the options say. */
const logIn = async (
  config: string,
  server: string,
  options: Options,
  inviteCode: string | undefined,
): Promise<LoggedInHere> => {
  const { codehost, namespace: slug, browser, join, newDevice = false, yes = false } = options
  const prompts = newTerminalPrompts({ opensBrowser: browser, assumeYes: yes })
  if (codehost) requireConfirm(prompts)
  const found = await recogniseFor(config, server, options)
  const { log } = found
  const newClient = (url: string, token?: string) => newApiClient(url, token, noticedTiming)
  if (join !== undefined) return joinAsDevice({ config, server, found, code: join, newDevice, yes })
  if (codehost) {
    let person: NewPerson | undefined
    const personOf = async (account: SignInReview['account']) =>
      (person = await nameNewUser(options, proposalOf(account)))
    const asked = { config, server, log, slug, inviteCode, isLocal: browser, prompts, personOf }
    return { ...(await logInWithCodehost(asked, newClient)), person }
  }
  if (found.is !== 'elsewhere' || newDevice) {
    const person = found.is === 'known' ? undefined : await nameNewUser(options, proposalOfSystem())
    return { ...(await logInWithDevice(config, server, newClient, inviteCode, log, person)), person }
  }
  const { known } = found
  return logInAtNewAddress(
    { config, server, log: found.log, known, confirm: terminalConfirm() },
    newClient,
    noticedTiming,
  )
}

export const login = async (options: Options): Promise<number> => {
  refuseCombinations(options)
  const invite = options.invite === undefined ? undefined : await readSecret(options.invite, inviteCode)
  const server = givenAddress(options.server, io().env)
  const config = configDir(io().env)
  if (isUnencrypted(server)) say(`Warning: ${server} is not encrypted; others on the network can read your token.`)
  const loggedIn = await logIn(config, server, options, invite).catch(explainPath(server))
  const { userId, namespaceSlug, keptAside, movedFrom, slugRefused } = loggedIn
  if (keptAside !== undefined) say(`The former device id of this machine was saved in ${keptAside}`)
  if (movedFrom !== undefined)
    say(`What was stored here for ${movedFrom} holds for ${server}, and commands for it go there.`)
  const displayName = await giveName(server, options, loggedIn)
  saySlug(options, loggedIn)
  if (options.json) {
    const name = displayName === undefined ? {} : { displayName }
    const refused = slugRefused === undefined ? {} : { slugRefused }
    await printDocument({ type: 'login', server, userId, ...name, namespace: namespaceSlug, ...refused })
    return exitCodes.ok
  }
  const who = userText({ id: userId, displayName })
  await printLines([`Logged in to ${server} as ${who}, namespace ${namespaceSlug}.`, ...nextSteps(server, options)])
  return exitCodes.ok
}
