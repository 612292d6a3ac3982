import { setFlagsFromString } from 'node:v8'
import { clientLine } from '../base/client-line.ts'
import { commandName } from '../cli/command-name.ts'
import { onEndOfNpm } from '../cli/end-of-npm.ts'
import { exitCodes } from '../cli/exit.ts'
import { io } from '../cli/io.ts'
import { readConfig } from '../server/config.ts'
import { type MinimalLogger, newLogger } from '../base/logger.ts'
import { type Running, serve } from '../server/service/serve.ts'

/** A stop that takes longer ends the process with exit code 1. */
const STOP_TIMEOUT_MS = 9_000

/**
 * Stops the service on SIGTERM and SIGINT, and when npm has ended that started it; on a second signal without completing requests in
 * flight.
 */
const stopOnSignals = (running: Promise<Running>, starting: AbortController, logger: MinimalLogger) => {
  let reasons = 0
  const end = async (mode: 'fast' | 'immediate') => {
    await (await running.catch(() => undefined))?.stop(mode)
    logger.info({}, 'stopped')
    process.exit(0)
  }
  const stop = (reason: string) => {
    reasons += 1
    const mode = reasons > 1 ? 'immediate' : 'fast'
    logger.info({ reason, mode }, 'stopping')
    if (mode === 'immediate') return end(mode)
    starting.abort()
    setTimeout(() => {
      logger.error({ seconds: STOP_TIMEOUT_MS / 1_000 }, 'the stop takes too long: the process ends without it')
      process.exit(1)
    }, STOP_TIMEOUT_MS).unref()
    return end(mode)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal))
  void onEndOfNpm(() => void stop('npm has ended'))
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

/** A command of the client, for the next terminal, or for another machine. */
const commandFor = ({ printedAddress }: Running, words: string): string =>
  commandName === 'tracebook' ? `tracebook ${words}` : clientLine(printedAddress, words, commandName)

const userMessage = (running: Running) => {
  const { url, publicUrl, database } = running
  const login = commandFor(running, `login${publicUrl === DEFAULT_URL ? '' : ` --server ${publicUrl}`}`)
  const sync = commandFor(running, 'sync')
  return `
Tracebook serves at ${url}${publicUrl === url ? '' : `, for others at ${publicUrl}`}
  database   ${database}
  reference  ${publicUrl}/docs

Next, in another terminal${login.startsWith('npx tracebook') ? ', in this folder' : ''}, log in and upload the sessions of your coding agents:
  ${login}
  ${sync}
`
}

export const start = async ({ roles }: { readonly roles?: string }): Promise<number> => {
  // V8 collects garbage sooner: under load the heap stays half as large, for a few percent more CPU time.
  setFlagsFromString('--heap-growing-percent=85')
  const config = readConfig({ ...io().env, ...(roles ? { ROLES: roles } : {}) })
  const logger = await newLogger(config.LOG_LEVEL)
  const starting = new AbortController()
  const running = serve(config, logger, starting.signal)
  stopOnSignals(running, starting, logger)
  const message = startMessage(await running)
  // A program that reads standard output gets only JSON lines.
  const { stdout, stderr } = io()
  ;(stdout.isTTY ? stdout : stderr).write(`${message}\n`)
  return exitCodes.ok
}
