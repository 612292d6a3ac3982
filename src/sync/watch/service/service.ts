/** The program that a service runs, with absolute paths, and the variables that it needs. */
export type ServiceProgram = {
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}

/** What the system says of the service. */
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
  /** A command that shows what the service has said, or a file that holds it. */
  readonly log: string
  /** The text of the file for a program. */
  readonly describe: (program: ServiceProgram) => string
  /** Has the service started now and at each login; one that runs is started again. Throws NoServiceManager. */
  readonly install: (program: ServiceProgram) => Promise<void>
  /** Ends and removes it. False when there was none. */
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

/** This system has none, or it cannot be reached from here. `message` is what it said. */
export class NoServiceManager extends Error {
  override readonly name = 'NoServiceManager'
}
