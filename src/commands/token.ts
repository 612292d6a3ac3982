import { io } from '../cli/io.ts'
import { exitCodes } from '../cli/exit.ts'
import { printDocument, printLines, say } from '../cli/output.ts'
import { requireLogin } from '../client/login/connect.ts'
import type { Access } from './support/access.ts'
import type { ClientOptions } from './support/access.ts'

const tokenOf = async ({ config, server, namespace, connect }: Access): Promise<string> =>
  namespace === undefined
    ? (await requireLogin(config, server)).login.token
    : (await connect({ readOnly: false })).token

export const printToken = async (access: Access, { json }: ClientOptions): Promise<number> => {
  const token = await tokenOf(access)
  if (io().stdout.isTTY) say('Keep this secret: anyone who has it can act as you until "tracebook logout".')
  if (json) await printDocument({ type: 'token', server: access.server, token })
  else await printLines([token])
  return exitCodes.ok
}
