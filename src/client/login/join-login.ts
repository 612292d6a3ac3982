import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { commandName } from '../../cli/command-name.ts'
import { UsageError } from '../../cli/exit.ts'
import type { NewApiClient, NewSession } from '../api/client.ts'
import { RequestFailed } from '../api/errors.ts'
import {
  type Credentials,
  ensureCredentials,
  readCredentials,
  setCredentialsAside,
  writeCredentials,
} from './credentials.ts'
import { type LoggedIn, storeLogin } from './device-login.ts'

/** The service has not made the code. */
export class UnknownCode extends UsageError {}

type JoinOptions = {
  readonly config: string
  readonly server: string
  /** The log that the server has, if it says so. */
  readonly log?: string | undefined
  readonly code: string
  /** Joins with a new device id, where the present one belongs to another user. */
  readonly asNewDevice: boolean
}

/** `identityId`: the device, as the service knows it. */
type Joined = LoggedIn & { readonly identityId: string }

/** A device id to join with, and whether an earlier join that was not answered has used it already. */
type JoiningDevice = { readonly id: string; readonly isTried: boolean }

/** A new device id, stored before it is used, so that a retry after a lost answer is the same device. */
const newJoiningDevice = async (config: string, present: Credentials): Promise<JoiningDevice> => {
  const joining = randomUUID()
  await writeCredentials(config, { ...present, joining })
  return { id: joining, isTried: false }
}

const joiningDevice = async ({ config, asNewDevice }: JoinOptions, present: Credentials): Promise<JoiningDevice> => {
  if (!asNewDevice) return { id: present.deviceId, isTried: false }
  return present.joining === undefined ? newJoiningDevice(config, present) : { id: present.joining, isTried: true }
}

const deviceKnown = (server: string) =>
  new UsageError(
    `This machine has a user at ${server} already, and so cannot join another one. To join as a new device all the same, ` +
      `add --new-device: this machine then acts as the user of the code only.\n` +
      `Who it is now: ${commandName} whoami --server ${server}`,
  )

const explainRefusal =
  ({ server }: JoinOptions) =>
  (error: unknown): never => {
    if (!(error instanceof RequestFailed)) throw error
    if (error.code === 'device_known') throw deviceKnown(server)
    const another = `Make another one on a machine that is logged in: ${commandName} devices add`
    const { status, code } = error
    const details = { ...(status === undefined ? {} : { status }), ...(code === undefined ? {} : { code }) }
    if (status === 404) throw new UnknownCode(`${server} does not know this code. ${another}`)
    if (code === 'code_used') throw new RequestFailed(`Another machine has used this code. ${another}`, details)
    if (code === 'code_expired') throw new RequestFailed(`This code has expired. ${another}`, details)
    throw error
  }

type Started = { readonly deviceId: string; readonly session: NewSession }

/** The id of a join that was not answered may belong to another user by now: then the machine takes another id. */
const startSession = async (options: JoinOptions, present: Credentials, newClient: NewApiClient): Promise<Started> => {
  const start = async ({ id }: JoiningDevice): Promise<Started> => {
    const body = { deviceId: id, deviceName: hostname(), joinCode: options.code }
    return { deviceId: id, session: await newClient(options.server).newSession(body) }
  }
  const device = await joiningDevice(options, present)
  return start(device).catch(async (error: unknown) => {
    if (!device.isTried || !(error instanceof RequestFailed) || error.code !== 'device_known') throw error
    return start(await newJoiningDevice(options.config, present))
  })
}

/**
 * Logs this machine in as another device of the user who has made the code. Throws UsageError if the machine has a user at
 * the server already or the server does not know the code, RequestFailed if the code was used or has expired.
 */
export const logInWithCode = async (options: JoinOptions, newClient: NewApiClient): Promise<Joined> => {
  const { config, server, log } = options
  const before = await readCredentials(config, server)
  const present = await ensureCredentials(config, server, log)
  const asNewDevice = options.asNewDevice && before?.deviceId === present.deviceId
  const { deviceId, session } = await startSession({ ...options, asNewDevice }, present, newClient).catch(
    explainRefusal(options),
  )
  const isReplaced = present.deviceId !== deviceId
  const keptAside = isReplaced ? { keptAside: await setCredentialsAside(config, present) } : {}
  const joined = await storeLogin(config, { ...present, deviceId }, session, newClient)
  return { ...keptAside, ...joined, identityId: session.identityId }
}
