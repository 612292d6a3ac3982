import { AsyncLocalStorage } from 'node:async_hooks'
import { homedir } from 'node:os'

/** What a command reads and writes beside files and the network: streams, variables, folders. */
export type Io = {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** The file of the program, for what is to call it later. */
  readonly script: string
  /** The user's home folder. */
  readonly home: string
  /** With which code the command ends. */
  exitCode: number | undefined
}

/** Those of this process. */
const ofProcess: Io = {
  get stdin() {
    return process.stdin
  },
  get stdout() {
    return process.stdout
  },
  get stderr() {
    return process.stderr
  },
  get env() {
    return process.env
  },
  get cwd() {
    return process.cwd()
  },
  get script() {
    return process.argv[1] ?? ''
  },
  get home() {
    return homedir()
  },
  get exitCode() {
    return process.exitCode === undefined ? undefined : Number(process.exitCode)
  },
  set exitCode(code) {
    process.exitCode = code
  },
}

const running = new AsyncLocalStorage<Io>()

/** Those of the command that is running: of this process, unless `withIo` has given it others. */
export const io = (): Io => running.getStore() ?? ofProcess

/** Runs a command with these, so that many can run in one process. */
export const withIo = <Result>(given: Io, work: () => Promise<Result>): Promise<Result> => running.run(given, work)
