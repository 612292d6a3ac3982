import { newHistoryClient } from '../../../src/client/api/history.ts'
import { connect } from '../../../src/client/login/connect.ts'
import type { Machine } from './machine.ts'

export const tokenOf = async ({ config, url, api }: Machine): Promise<string> =>
  (await connect({ config, server: url, readOnly: true }, api)).token

/** The messages that the service has of a session of the machine's user, in order. */
export const storedOf = async (machine: Machine, id: string) => {
  const history = newHistoryClient(machine.url, await tokenOf(machine))
  return (await history.messages(id, { includeParts: true })).messages
}
