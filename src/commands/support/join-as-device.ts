import { io } from '../../cli/io.ts'
import { askToConfirm } from '../../cli/ask.ts'
import { commandName } from '../../cli/command-name.ts'
import { UsageError } from '../../cli/exit.ts'
import { say } from '../../cli/output.ts'
import { type GivenSecret, readSecret, type Secret } from '../../cli/secret.ts'
import { newApiClient } from '../../sync/api/client.ts'
import { readCredentials } from '../../sync/login/credentials.ts'
import type { LoggedIn } from '../../sync/login/device-login.ts'
import { logInWithCode } from '../../sync/login/join-login.ts'

export type JoinAsDevice = {
  readonly config: string
  readonly server: string
  readonly code: GivenSecret
  readonly newDevice: boolean
  readonly yes: boolean
}

const codeOfDevice: Secret = {
  question: 'Code: ',
  variable: 'TRACEBOOK_JOIN_CODE',
  missing: `no code was given: one is printed by "${commandName} devices add", on a machine that is logged in`,
}

/** Asks before a machine gives up the user that it has. */
const confirmNewDevice = async ({ config, server, yes }: JoinAsDevice) => {
  const login = (await readCredentials(config, server))?.login
  if (!login || yes) return
  if (!io().stdin.isTTY) throw new UsageError('Nobody can be asked here whether this is meant: agree with --yes')
  const isMeant = await askToConfirm(
    `This machine is logged in to ${server} as user ${login.userId} (namespace ${login.namespaceSlug}). It will be a device ` +
      'of the user of the code instead. What the other one has stays on the server; without another device nobody can ' +
      'log in as them.',
  )
  if (!isMeant) throw new UsageError('not confirmed: nothing was changed')
}

/**
 * Logs this machine in with the code of another one, and asks what has to be asked. Throws UsageError without a code or a yes, and
 * what `logInWithCode` throws.
 */
export const joinAsDevice = async (options: JoinAsDevice): Promise<LoggedIn> => {
  const { config, server, code: given, newDevice } = options
  if (newDevice) await confirmNewDevice(options)
  const code = await readSecret(given, codeOfDevice)
  const { keptAside, ...loggedIn } = await logInWithCode({ config, server, code, asNewDevice: newDevice }, newApiClient)
  if (keptAside !== undefined) say(`The device id that this machine had there is kept in ${keptAside}`)
  return loggedIn
}
