import { isLoopback } from '../../base/loopback.ts'
import { commandName } from '../../cli/command-name.ts'
import { errorMessage, UsageError } from '../../cli/exit.ts'
import { newAccountClient } from '../api/account.ts'
import type { NewApiClient } from '../api/client.ts'
import { hasStatus } from '../api/errors.ts'
import type { RetryTiming } from '../api/retry.ts'
import { askServiceOnce } from '../api/service.ts'
import { isUnencrypted } from '../config.ts'
import { serverKey } from '../server-key.ts'
import { sessionHasEnded } from './connect.ts'
import { type Credentials, moveCredentials, readCredentials, removeCredentials } from './credentials.ts'
import type { LoggedIn } from './device-login.ts'
import { logInWithCode, UnknownCode } from './join-login.ts'

type Place = { readonly config: string; readonly server: string; readonly log: string }

const asNewUser = (server: string): string =>
  `To become a new user there: ${commandName} login --new-device --server ${server}`

const whoAt = ({ server, login }: Credentials): string =>
  login ? `${server}, where you are user ${login.userId} (namespace ${login.namespaceSlug})` : server

/** How to join at another address without being asked, and how to become a user of its own there. */
const byHand = (server: string, known: Credentials | undefined): readonly string[] => [
  'If both are the same service, join your user there with a one-time code:',
  `  ${commandName} devices add${known ? ` --server ${known.server}` : ''}`,
  `  ${commandName} login --join CODE --server ${server}`,
  'Otherwise it is another service, which has a copy of the log, or says so.',
  asNewUser(server),
]

/** Said without a terminal. */
const movedError = ({ server }: Pick<Place, 'server'>, known: readonly Credentials[]): UsageError =>
  new UsageError(
    [
      `${server} says that it has the log of ${known.map(whoAt).join(', or of ')}. There is no terminal to ask whether it is the same service: nothing was made.`,
      ...byHand(server, known[0]),
    ].join('\n'),
  )

/** Said where the known address can make no code. */
const cannotAsk = ({ server }: Place, known: Credentials, why: string): UsageError =>
  new UsageError(
    [
      `${server} says that it has the log of ${whoAt(known)}, but ${why}, so no one-time code can be made there: nothing was made.`,
      `Do one of these: let the service answer at ${known.server} once more, for example by a tunnel, and log in again; on another`,
      `machine of yours that is logged in, run "${commandName} devices add", and here "${commandName} login --join CODE --server ${server}";`,
      `log in with your account at a code host, if you have joined one: ${commandName} login --codehost --server ${server}`,
      asNewUser(server),
    ].join('\n'),
  )

/** Why the known service can make no code; otherwise the address that it says people reach it at. */
const askKnown = async (place: Place, known: Credentials): Promise<{ readonly publicUrl: string | undefined }> => {
  if (!known.login)
    throw new UsageError(
      `${place.server} says that it has the log of ${known.server}, which you are logged out of: nothing was made. ` +
        `First log in there: ${commandName} login --server ${known.server}`,
    )
  const said = await askServiceOnce(known.server).catch((error: unknown) => {
    throw cannotAsk(place, known, `that address does not answer (${errorMessage(error)})`)
  })
  if (said?.log !== place.log) throw cannotAsk(place, known, 'another service answers at that address now')
  return { publicUrl: said.publicUrl }
}

/** What vouches for an address: only what the known service says at its own address is a proof. */
const vouches = (server: string, known: Credentials, publicUrl: string | undefined): readonly string[] => {
  const careful = `Whoever runs ${server} can act as you afterwards. Say yes only if you know that it is the same service.`
  if (publicUrl === undefined) return [careful]
  if (serverKey(publicUrl) === serverKey(server)) return [`${known.server} confirms that this is its public address.`]
  return [`${known.server} says that its public address is another one: ${publicUrl}`, careful]
}

const question = (server: string, known: Credentials, publicUrl: string | undefined): string =>
  [
    `${server} says that it has the log of ${whoAt(known)}.`,
    'Is it the same service, at another address? Then this machine joins your user there, and uses this address from now on.',
    ...vouches(server, known, publicUrl),
  ].join('\n')

type Confirm = (description: string) => Promise<boolean>

/** The known service that the user says it is. @throws UsageError if it is none of them */
const choose = async (place: Place, known: readonly Credentials[], confirm: Confirm): Promise<Credentials> => {
  for (const one of known) {
    const { publicUrl } = await askKnown(place, one)
    if (await confirm(question(place.server, one, publicUrl))) return one
  }
  throw new UsageError(`Not confirmed: nothing was made. ${asNewUser(place.server)}`)
}

/** The devices of the user, by their ids; undefined if the known address does not answer, or answers for another service. */
const devicesAt = async (known: Credentials, log: string): Promise<ReadonlySet<string> | undefined> => {
  try {
    if (!known.login || (await askServiceOnce(known.server))?.log !== log) return undefined
    const devices = await newAccountClient(known.server, known.login.token).identities()
    return new Set(devices.map(({ id }) => id))
  } catch {
    return undefined
  }
}

const goneQuestion = (server: string, known: Credentials): string =>
  [
    `${server} says that it has the log of ${whoAt(known)}, which does not answer.`,
    'Is it the same service, at another address? Then this machine uses this address from now on, and sends there what was meant for the other one.',
  ].join('\n')

type Joining = Place & {
  readonly code: string
  readonly asNewDevice: boolean
  readonly known: readonly Credentials[]
  readonly confirm: Confirm | undefined
}

/** `movedFrom`: the former address of the service; undefined if this machine knew it at none. */
type Moved = LoggedIn & { readonly movedFrom?: string }

/**
 * Joins with a code at an address whose log is that of known services, and makes it the address of the one whose user has got a new device
 * by that. That is asked at the known address, because what the new one says proves nothing; if the known one is gone, the user is asked.
 */
export const joinAtNewAddress = async (
  { known, confirm, ...joining }: Joining,
  newClient: NewApiClient,
): Promise<Moved> => {
  const { config, server, log } = joining
  const before = await Promise.all(known.map(async (one) => ({ one, devices: await devicesAt(one, log) })))
  const { identityId, ...joined } = await logInWithCode(joining, newClient)
  const isSame = async ({ one, devices }: (typeof before)[number]): Promise<boolean> => {
    if (devices) return !devices.has(identityId) && (await devicesAt(one, log))?.has(identityId) === true
    return one.login?.userId === joined.userId && confirm !== undefined && confirm(goneQuestion(server, one))
  }
  for (const asked of before) {
    if (!(await isSame(asked))) continue
    await moveCredentials(config, (await readCredentials(config, server))!, asked.one)
    return { ...joined, movedFrom: asked.one.server }
  }
  return joined
}

/** Makes a one-time code at the known address. */
const codeOf = async ({ server, login }: Credentials, timing: RetryTiming): Promise<string> => {
  try {
    return (await newAccountClient(server, login!.token, timing).newDeviceCode()).code
  } catch (error) {
    throw hasStatus(error, 401) ? sessionHasEnded(server) : error
  }
}

/** Says what it means that an address does not know the code that the known one has made. */
const explainCode =
  ({ server }: Place, known: Credentials) =>
  (error: unknown): never => {
    if (!(error instanceof UnknownCode)) throw error
    const what = 'it is another service, which has a copy of the log'
    throw new UsageError(`${server} does not know the code of ${known.server}: ${what}. ${asNewUser(server)}`)
  }

const isOnThisMachine = (server: string): boolean => isLoopback(new URL(server).hostname)

/** Said where an address has taken a code without being the service that made it. */
const notTheSame = (server: string, known: Credentials): UsageError =>
  new UsageError(
    `${server} has taken the code, but your user at ${known.server} got no device by it: it is another service. ` +
      `Nothing was changed here. To see your devices: ${commandName} devices --server ${known.server}`,
  )

/**
 * Joins at a second address of this machine, such as that of a proxy or a tunnel, without being asked: whoever may listen at the one may listen
 * at the other. Both are kept, because nobody has said that the known one is gone.
 */
const joinBeside = async (
  place: Place,
  known: Credentials,
  newClient: NewApiClient,
  timing: RetryTiming,
): Promise<LoggedIn> => {
  await askKnown(place, known)
  const code = await codeOf(known, timing)
  const joined = await logInWithCode({ ...place, code, asNewDevice: false }, newClient).catch(explainCode(place, known))
  if ((await devicesAt(known, place.log))?.has(joined.identityId)) return joined
  await removeCredentials(place.config, (await readCredentials(place.config, place.server))!)
  throw notTheSame(place.server, known)
}

type MovedOptions = Place & { readonly known: readonly Credentials[]; readonly confirm: Confirm | undefined }

/**
 * Logs in at an address whose log a known service has, if the user says that it is the same service: by a one-time code that is made at the
 * known address. The device id of the known address is never sent to the other one. Without a terminal only an address of this machine is
 * joined, beside the known one.
 * @throws UsageError without a terminal or confirmation, and if no code can be made; RequestFailed
 */
export const logInAtNewAddress = async (
  { known, confirm, ...place }: MovedOptions,
  newClient: NewApiClient,
  timing: RetryTiming,
): Promise<Moved> => {
  const { config, server } = place
  if (!confirm) {
    const beside = known.find((one) => one.login && isOnThisMachine(one.server))
    if (beside && isOnThisMachine(server)) return joinBeside(place, beside, newClient, timing)
    throw movedError(place, known)
  }
  if (isUnencrypted(server))
    throw new UsageError(
      `${server} is not encrypted: others on the network could read the one-time code, and act as you. Use an https address.`,
    )
  const from = await choose(place, known, confirm)
  const joining = { ...place, code: await codeOf(from, timing), asNewDevice: false, known: [from], confirm: undefined }
  const joined = await joinAtNewAddress(joining, newClient).catch(explainCode(place, from))
  if (joined.movedFrom !== undefined) return joined
  await removeCredentials(config, (await readCredentials(config, server))!)
  throw notTheSame(server, from)
}
