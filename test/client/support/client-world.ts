import { logInWithDevice } from '../../../src/client/login/device-login.ts'
import { type Machine, newMachine } from './machine.ts'
import { startServer } from './server.ts'
import { tempFolder } from './temp.ts'

/** A user with a machine, logged in to a server of its own. */
export const newWorld = async () => {
  const { path, remove } = tempFolder()
  const server = await startServer()
  const machine = newMachine(path, server.url)
  const user = await logInWithDevice(machine.config, server.url, machine.api)
  server.requests.length = 0

  /** Forgets what was asked, runs once more, and gives the writes of that run. */
  const writesOf = async (options?: Parameters<Machine['sync']>[0]): Promise<readonly string[]> => {
    server.requests.length = 0
    await machine.sync(options)
    return server.writes()
  }
  const close = async () => {
    await server.close()
    remove()
  }
  return { ...machine, server, user, writesOf, close }
}

export type ClientWorld = Awaited<ReturnType<typeof newWorld>>
