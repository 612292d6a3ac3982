import { shellWord } from '../../base/escape.ts'
import { io } from '../../cli/io.ts'
import { lastingCommand, lastingEnvironment } from '../watch/service/program.ts'

/** How an agent or git calls Tracebook: by absolute paths, for a server, with the folders of its settings and state. */
export type HookProgram = {
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly server: string
}

/** How another program calls this one. */
export const ownProgram = (server: string): HookProgram => {
  const ours = Object.entries(lastingEnvironment(io().env)).filter(([name]) => name.startsWith('TRACEBOOK_'))
  return {
    command: lastingCommand(process.execPath, io().script),
    environment: Object.fromEntries(ours),
    server,
  }
}

export type HookKind = 'claude-code' | 'git'

/** The mark by which a command of Tracebook is recognised, with any paths in it. */
export const markOf = (kind: HookKind): string => `hooks run ${kind} `

/**
 * A line of sh that starts the work in the background and is done at once: it prints nothing, waits for nothing, and never fails.
 * With `takesInput` it gets the caller's stdin, which a list in the background does not have otherwise.
 */
export const hookLine = (
  kind: HookKind,
  { command, environment, server }: HookProgram,
  takesInput: boolean,
): string => {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${shellWord(value)}`)
  const words = [...variables, ...command.map(shellWord), `${markOf(kind)}--server`, shellWord(server)].join(' ')
  return takesInput ? `{ ${words} <&3 >/dev/null 2>&1 & } 3<&0` : `${words} </dev/null >/dev/null 2>&1 &`
}

/** A hook in another program, which starts uploads of sessions. */
export type Hook = {
  /** The path of its file, which need not exist. Throws UsageError if there can be none. */
  readonly file: () => Promise<string>
  /** A sentence that says from where else it is called; undefined if from nowhere else. */
  readonly reach?: () => Promise<string | undefined>
  readonly isInstalled: () => Promise<boolean>
  /** Installs the hook and changes nothing else. Returns false if it is installed already. Throws UsageError if there is no place for it. */
  readonly install: (program: HookProgram) => Promise<boolean>
  /** Removes exactly what was installed. Returns false if nothing was. */
  readonly uninstall: () => Promise<boolean>
}
