import { execFile } from 'node:child_process'
import { mkdir, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { shellWord } from '../../../base/escape.ts'
import { commandName } from '../../../cli/command-name.ts'

/** The program that a service runs, with absolute paths, and the variables that it needs. */
export type ServiceProgram = {
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}

/** The state of the service, from the system. */
export type ServiceStatus = {
  readonly isRunning: boolean
  readonly pid: number | undefined
  /** In the system's own words, such as `active (running)`. */
  readonly state: string
}

/** What starts programs for a user: systemd or launchd. */
export type ServiceManager = {
  readonly name: 'systemd' | 'launchd'
  /** The file that describes the service. */
  readonly file: string
  /** A command that shows the service's log, or the log file. */
  readonly log: string
  /** The text of the file for a program. */
  readonly describe: (program: ServiceProgram) => string
  /** Starts the service now and at each login; restarts one that runs. Throws NoServiceManager. */
  readonly install: (program: ServiceProgram) => Promise<void>
  /** Stops and removes it. Returns false if there was none. */
  readonly uninstall: () => Promise<boolean>
  /** Undefined when it is not installed. */
  readonly status: () => Promise<ServiceStatus | undefined>
}

/** Where the manager works: its programs are found by `env.PATH`. */
export type ServicePlace = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly home: string
  /** The folder for what Tracebook remembers. */
  readonly state: string
}

/** The system has no service manager, or it cannot be reached from here. `message` is its output. */
export class NoServiceManager extends Error {
  override readonly name = 'NoServiceManager'
}

type Ran = { readonly code: number; readonly out: string; readonly err: string }

/** Long enough for a service that has to end first, in milliseconds. */
const TIMEOUT_MS = 30_000

/** Runs a program of the system to its end. Throws NoServiceManager when there is none of that name. */
export const runManager = (program: string, args: readonly string[], { env }: ServicePlace): Promise<Ran> =>
  new Promise((resolve, reject) => {
    execFile(program, args, { env, timeout: TIMEOUT_MS, encoding: 'utf8' }, (error, out, err) => {
      if (error?.code === 'ENOENT') reject(new NoServiceManager(`there is no ${program}`))
      else resolve({ code: !error ? 0 : typeof error.code === 'number' ? error.code : 1, out, err })
    })
  })

/** The same. Throws NoServiceManager when it fails. */
export const requireManager = async (program: string, args: readonly string[], place: ServicePlace): Promise<Ran> => {
  const ran = await runManager(program, args, place)
  if (ran.code !== 0)
    throw new NoServiceManager(
      `${program} ${args.join(' ')}: ${ran.err.trim() || ran.out.trim() || `exit code ${ran.code}`}`,
    )
  return ran
}

/** Writes the file that describes the service. Only its owner may read it, because it has values of the environment. */
export const writeDescription = async (file: string, text: string): Promise<void> => {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text, { mode: 0o600 })
}

/** Removes a file, and the folders that hold nothing any more, from the first of `folders` on. */
export const removeWithFolders = async (file: string, folders: readonly string[]): Promise<void> => {
  await rm(file, { force: true })
  for (const folder of folders) {
    const isRemoved = await rmdir(folder).then(
      () => true,
      () => false,
    )
    if (!isRemoved) return
  }
}

/** A `%` ends the command of a line of a crontab. */
const cronWord = (word: string): string => shellWord(word).replaceAll('%', '\\%')

/** The text that says what to do on a system that starts no programs for users. `why` is its output. */
export const withoutManager = (why: string, { command, environment }: ServiceProgram, logFile: string): string => {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${cronWord(value)}`)
  const line = ['@reboot', ...variables, ...[...command, '--log-file', logFile].map(cronWord)].join(' ')
  return [
    `This system starts no service for you (${why}). Instead, either`,
    `- add this line to your crontab (crontab -e):`,
    `    ${line}`,
    `- or have sessions uploaded at the end of each turn, or with each commit:`,
    `    ${commandName} hooks install claude-code`,
    `    ${commandName} hooks install git`,
  ].join('\n')
}
