import { shellWord } from '../../cli/command-name.ts'

/** How an agent or git calls Tracebook: by absolute paths, for a server, with the folders of its settings and state. */
export type HookProgram = {
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly server: string
}

export type HookKind = 'claude-code' | 'git'

/** The mark by which a command of Tracebook is recognised, with any paths in it. */
export const markOf = (kind: HookKind): string => `hooks run ${kind} `

/**
 * A line of sh that starts the work in the background and is done at once: it prints nothing, waits for nothing, and never fails.
 * What the caller sends on stdin is handed on with `takesInput`; a list in the background has none otherwise.
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

/** A hook of another program that has sessions uploaded. */
export type Hook = {
  /** Where it stands, or would. Throws UsageError where none can be. */
  readonly file: () => Promise<string>
  /** A sentence on where else it is called from; undefined where it is called from nowhere else. */
  readonly reach?: () => Promise<string | undefined>
  readonly isInstalled: () => Promise<boolean>
  /** Installs the hook and changes nothing else. Returns false if it is installed already. Throws UsageError if there is no place for it. */
  readonly install: (program: HookProgram) => Promise<boolean>
  /** Takes out exactly what was put in. False when there was nothing. */
  readonly uninstall: () => Promise<boolean>
}
