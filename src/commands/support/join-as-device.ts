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
export const joinAsDevice = async (options: JoinAsDevice): Promise<LoggedIn> => {
  const { config, server, code: given, newDevice } = options
  if (newDevice) await confirmNewDevice(options)
  const code = await readSecret(given, codeOfDevice)
  const { keptAside, ...loggedIn } = await logInWithCode({ config, server, code, asNewDevice: newDevice }, newApiClient)
  if (keptAside !== undefined) say(`The former device id of this machine was saved in ${keptAside}`)
  return loggedIn
}
