import { cpSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { logInWithDevice } from '../../../src/client/login/device-login.ts'
import { databaseUrl, freshDatabase, dropDatabase, onServer } from '../../support/database.ts'
import { openApp } from '../../support/open-app.ts'
import { type Machine, newMachine } from './machine.ts'
import { tempFolder } from './temp.ts'

type Request = { readonly method: string; readonly url: string }

const nameOf = (url: string): string => new URL(url).pathname.slice(1)

/** The service itself, on a socket, and the machines of its users. `requests`: all that any of them has asked; `writes` without GET. */
export const startRealService = async (env: Readonly<Record<string, string>> = {}) => {
  const database = await freshDatabase()
  const server = databaseUrl(database.url, 'postgres')
  const requests: Request[] = []
  const open = async (port: number) => {
    const opened = await openApp(database.url, { env: { SUMMARY_PROVIDER: 'none', ...env } })
    const handlers = opened.app.server.listeners('request')
    opened.app.server.removeAllListeners('request')
    opened.app.server.on('request', async (request: IncomingMessage, response: ServerResponse) => {
      const { method = '', url = '' } = request
      requests.push({ method, url })
      await gate.pass({ method, url })
      if (!response.destroyed) for (const handle of handlers) handle.call(opened.app.server, request, response)
    })
    return { ...opened, url: await opened.app.listen({ host: '127.0.0.1', port }) }
  }
  /** Each request waits for this before it is answered. */
  const gate: { pass: (request: Request) => Promise<void> } = { pass: async () => {} }
  let running = await open(0)
  const { url } = running
  const folder = tempFolder()
  let machines = 0

  /** Stops the service, does something to its database, and starts it again. */
  const whileStopped = async (work: () => Promise<unknown>) => {
    await running.close()
    await work()
    running = await open(Number(new URL(url).port))
  }
  const copy = async (from: string, to: string) => {
    await dropDatabase(server, to)
    await onServer(server, `create database "${to}" template "${from}" strategy file_copy`)
  }
  const [live, backup] = [nameOf(database.url), `${nameOf(database.url)}_backup`]
  const backUp = () => whileStopped(() => copy(live, backup))
  const restore = () => whileStopped(() => copy(backup, live))

  const machine = (): Machine => newMachine(join(folder.path, `${++machines}`), url)
  /** A machine of a new user. */
  const logIn = async () => {
    const first = machine()
    await logInWithDevice(first.config, url, first.api)
    return first
  }
  /** Another machine of the same user, which remembers nothing. */
  const another = ({ config }: Machine): Machine => {
    const next = machine()
    cpSync(join(config, 'servers'), join(next.config, 'servers'), { recursive: true })
    return next
  }
  const close = async () => {
    await running.close()
    await dropDatabase(server, backup)
    await database.drop()
    folder.remove()
  }
  const writes = () => requests.filter(({ method }) => method !== 'GET').map(({ method, url }) => `${method} ${url}`)
  const call: typeof running.call = (...asked) => running.call(...asked)
  return { url, requests, gate, writes, call, logIn, another, backUp, restore, close }
}

export type RealService = Awaited<ReturnType<typeof startRealService>>
