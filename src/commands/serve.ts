import { setFlagsFromString } from 'node:v8'
import { commandName } from '../cli/command-name.ts'
import { exitCodes } from '../cli/exit.ts'
import { io } from '../cli/io.ts'
import { readConfig } from '../config.ts'
import { newLogger } from '../base/logger.ts'
import { type Running, serve } from '../service/serve.ts'

/** A stop that takes longer ends the process with exit code 1. */
const STOP_TIMEOUT_MS = 9_000

/** Stops the service on SIGTERM and SIGINT; on a second signal without completing requests in flight. */
const stopOnSignals = (running: Promise<Running>, starting: AbortController) => {
  let signals = 0
  const stop = async () => {
    signals += 1
    if (signals > 1) {
      await (await running.catch(() => undefined))?.stop('immediate')
      process.exit(0)
    }
    starting.abort()
    setTimeout(() => process.exit(1), STOP_TIMEOUT_MS).unref()
    const service = await running.catch(() => undefined)
    await service?.stop('fast')
    process.exit(0)
  }
  process.on('SIGTERM', () => void stop())
  process.on('SIGINT', () => void stop())
}

const startMessage = (running: Running) =>
  running.roles.includes('api') ? userMessage(running) : operatorMessage(running)

/** What a process without the role `api` says when it has started. */
const operatorMessage = ({ url, roles, database }: Running) => `
Tracebook runs as ${roles.join(' and ')}
  database   ${database}
  health     ${url}/health/ready
  metrics    ${url}/metrics
`

/** The address that clients use by default. */
const DEFAULT_URL = 'http://127.0.0.1:3000'

const userMessage = ({ url, publicUrl, database }: Running) => {
  const login = `${commandName} login${publicUrl === DEFAULT_URL ? '' : ` --server ${publicUrl}`}`
  const sync = `${commandName} sync`.padEnd(login.length)
  return `
Tracebook serves at ${url}${publicUrl === url ? '' : `, for others at ${publicUrl}`}
  database   ${database}
  reference  ${publicUrl}/docs

Next, in another terminal${commandName.startsWith('npx') ? ', in this folder' : ''}:
  ${login}    log in from this machine
  ${sync}    upload the sessions of your coding agents
`
}

export const start = async ({ roles }: { readonly roles?: string }): Promise<number> => {
  // V8 collects garbage sooner: under load the heap stays half as large, for a few percent more CPU time.
  setFlagsFromString('--heap-growing-percent=85')
  const config = readConfig({ ...io().env, ...(roles ? { ROLES: roles } : {}) })
  const logger = await newLogger(config.LOG_LEVEL)
  const starting = new AbortController()
  const running = serve(config, logger, starting.signal)
  stopOnSignals(running, starting)
  const message = startMessage(await running)
  // A program that reads standard output gets only JSON lines.
  const { stdout, stderr } = io()
  ;(stdout.isTTY ? stdout : stderr).write(`${message}\n`)
  return exitCodes.ok
}
