import type { HookProgram } from './hook-command.ts'

/** A hook of another program that has sessions uploaded. */
export type Hook = {
  /** Where it stands, or would. Throws UsageError where none can be. */
  readonly file: () => Promise<string>
  /** A sentence on where else it is called from; undefined where it is called from nowhere else. */
  readonly reach?: () => Promise<string | undefined>
  readonly isInstalled: () => Promise<boolean>
  /** Leaves all else there as it is. False when it is there already. Throws UsageError when there is no place for it. */
  readonly install: (program: HookProgram) => Promise<boolean>
  /** Takes out exactly what was put in. False when there was nothing. */
  readonly uninstall: () => Promise<boolean>
}
