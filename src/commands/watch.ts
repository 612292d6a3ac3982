import { join } from 'node:path'
import { io } from '../cli/io.ts'
import { commandName } from '../cli/command-name.ts'
import { exitCodes } from '../cli/exit.ts'
import { shortTime } from '../cli/time-text.ts'
import { printDocument, printLines } from '../cli/output.ts'
import { stateDir } from '../client/config.ts'
import { notLoggedInError } from '../client/login/connect.ts'
import { readCredentials } from '../client/login/credentials.ts'
import { LOG_FILE } from '../client/watch/log-file.ts'
import { launchd } from '../client/watch/service/launchd.ts'
import { lastingCommand, lastingEnvironment } from '../client/watch/service/program.ts'
import {
  NoServiceManager,
  type ServiceManager,
  type ServiceProgram,
  type ServiceStatus,
} from '../client/watch/service/service.ts'
import { systemd } from '../client/watch/service/systemd.ts'
import { withoutManager } from '../client/watch/service/service.ts'
import { removeWatchLocks, runningWatcher, type Watcher } from '../client/watch/watch-lock.ts'
import type { Access } from './support/access.ts'
import type { ClientOptions } from './support/access.ts'

/** The service manager of this system, if it is a known one. */
const managerOf = (): ServiceManager | undefined => {
  const place = { env: io().env, home: io().home, state: stateDir(io().env) }
  if (process.platform === 'linux') return systemd(place)
  return process.platform === 'darwin' ? launchd(place, process.getuid!()) : undefined
}

const programFor = (server: string, namespace: string | undefined): ServiceProgram => ({
  command: [
    ...lastingCommand(process.execPath, io().script),
    ...['sync', '--watch', '--server', server],
    ...(namespace === undefined ? [] : ['--namespace', namespace]),
  ],
  environment: lastingEnvironment(io().env),
})

type Described = {
  readonly server: string
  readonly manager: ServiceManager | undefined
  /** Undefined if it is not installed. */
  readonly service: ServiceStatus | undefined
  readonly watcher: Watcher | undefined
}

const describe = async ({ server, config }: Access): Promise<Described> => {
  const manager = managerOf()
  const service = await manager?.status().catch((error: unknown) => {
    if (!(error instanceof NoServiceManager)) throw error
    return { isRunning: false, pid: undefined, state: error.message }
  })
  return {
    server,
    manager,
    service,
    watcher: await runningWatcher({ stateFolder: stateDir(io().env), config, server }),
  }
}

const documentOf = ({ server, manager, service, watcher }: Described) => ({
  type: 'watch',
  server,
  installed: service !== undefined,
  running: watcher !== undefined,
  ...(service ? { manager: manager?.name, state: service.state, file: manager?.file, log: manager?.log } : {}),
  ...(watcher ? { watcher: { pid: watcher.pid, since: watcher.since } } : {}),
})

const linesOf = ({ server, manager, service, watcher }: Described): readonly string[] => [
  ...(service
    ? [`Installed with ${manager?.name}: ${service.state}`, `  file: ${manager?.file}`, `  log:  ${manager?.log}`]
    : [`Not installed. To install it: ${commandName} watch install`]),
  watcher
    ? `Watching for ${server}: process ${watcher.pid}, since ${shortTime(watcher.since)}`
    : `Nothing is watching for ${server}.`,
]

export const install = async (access: Access, { json }: ClientOptions): Promise<number> => {
  const { server, namespace, config } = access
  const program = programFor(server, namespace)
  if (!(await readCredentials(config, server))?.login) throw notLoggedInError(config, server)
  const manager = managerOf()
  try {
    if (!manager) throw new NoServiceManager(`${process.platform} is not supported`)
    await manager.install(program)
  } catch (error) {
    if (!(error instanceof NoServiceManager)) throw error
    throw new Error(withoutManager(error.message, program, join(stateDir(io().env), LOG_FILE)), { cause: error })
  }
  if (json) await printDocument(documentOf(await describe(access)))
  else
    await printLines([
      `Installed: the sessions of this machine are uploaded to ${server} as they are written.`,
      `  file: ${manager.file}`,
      `  log:  ${manager.log}`,
    ])
  return exitCodes.ok
}

export const uninstall = async (access: Access, { json }: ClientOptions): Promise<number> => {
  const isRemoved = await managerOf()?.uninstall()
  await removeWatchLocks(stateDir(io().env))
  if (json) await printDocument(documentOf(await describe(access)))
  else await printLines([isRemoved ? 'Removed.' : 'Nothing to remove.'])
  return exitCodes.ok
}

export const status = async (access: Access, { json }: ClientOptions): Promise<number> => {
  const described = await describe(access)
  if (json) await printDocument(documentOf(described))
  else await printLines(linesOf(described))
  return described.watcher ? exitCodes.ok : exitCodes.failed
}
