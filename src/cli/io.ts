import { AsyncLocalStorage } from 'node:async_hooks'
import { homedir } from 'node:os'

/** The surroundings of a command, besides files and the network: streams, variables, folders. */
export type Io = {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** The file of the program, for services and hooks that call it later. */
  readonly script: string
  /** The user's home folder. */
  readonly home: string
  /** The exit code of the command. */
  exitCode: number | undefined
}

/** The width of a terminal that says 0, as one does that nobody has given a size yet. */
const UNSAID_WIDTH = 80

/** The width of the terminal that a stream goes to, in columns; undefined for a pipe or a file. */
export const widthOf = ({ columns }: NodeJS.WriteStream): number | undefined => (columns === 0 ? UNSAID_WIDTH : columns)

/** The surroundings of this process. */
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

/** The surroundings of the running command: those of `withIo`, else of this process. */
export const io = (): Io => running.getStore() ?? ofProcess

/** Runs a command in other surroundings, so that many can run in one process. */
export const withIo = <Result>(given: Io, work: () => Promise<Result>): Promise<Result> => running.run(given, work)
