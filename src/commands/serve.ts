import { setFlagsFromString } from 'node:v8'
import { Command } from 'commander'
import { commandName } from '../cli/command-name.ts'
import { readConfig } from '../config.ts'
import { newLogger } from '../logger.ts'
import { type Running, serve } from '../serve.ts'

const HARD_STOP_MS = 9_000

/** Stops on SIGTERM and SIGINT; a second signal shortens that, and nothing is left behind. */
const stopOnSignals = (running: Promise<Running>, starting: AbortController) => {
  let signals = 0
  const stop = async () => {
    signals += 1
    if (signals > 1) {
      await (await running.catch(() => undefined))?.stop('immediate')
      process.exit(0)
    }
    starting.abort()
    setTimeout(() => process.exit(1), HARD_STOP_MS).unref()
    const service = await running.catch(() => undefined)
    await service?.stop('fast')
    process.exit(0)
  }
  process.on('SIGTERM', () => void stop())
  process.on('SIGINT', () => void stop())
}

const greetingOf = (running: Running) => (running.roles.includes('api') ? forUsers(running) : forOperators(running))

/** A process that has no API. */
const forOperators = ({ url, roles, database }: Running) => `
Tracebook works as ${roles.join(' and ')}
  database   ${database}
  health     ${url}/health/ready
  metrics    ${url}/metrics
`

const forUsers = ({ url, database }: Running) => `
Tracebook serves at ${url}
  database   ${database}
  reference  ${url}/docs

Next, in another terminal:
  ${commandName} login    make this machine known
  ${commandName} sync     bring in your Claude Code sessions
`

export const serveCommand = (): Command =>
  new Command('serve')
    .description('Run the service. Without DATABASE_URL it brings its own PostgreSQL, under DATA_DIR.')
    .option('--roles <list>', 'what this process does: api, projector, worker (default: all; also ROLES)')
    .addHelpText('after', '\nConfiguration is environment variables; the README lists them all.')
    .action(async ({ roles }: { roles?: string }) => {
      // Collects sooner: under load the heap holds half of what it would, for a few percent more work.
      setFlagsFromString('--heap-growing-percent=85')
      const config = readConfig({ ...process.env, ...(roles ? { ROLES: roles } : {}) })
      const logger = newLogger(config.LOG_LEVEL)
      const starting = new AbortController()
      const running = serve(config, logger, starting.signal)
      stopOnSignals(running, starting)
      const text = greetingOf(await running)
      // Standard output has nothing but JSON lines where a program reads it.
      if (process.stdout.isTTY) console.log(text)
      else console.error(text)
    })
