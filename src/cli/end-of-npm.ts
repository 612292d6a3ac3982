import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { io } from './io.ts'

const EVERY_MS = 1_000

type Process = { readonly parent: number; readonly group: number; readonly command: string }

/** What the system lists about a process; undefined if it has ended. Linux has no `ps` in small containers. */
const listed = async (pid: number): Promise<Process | undefined> => {
  const found =
    process.platform === 'linux'
      ? readFile(`/proc/${pid}/stat`, 'utf8').then((text) =>
          /^\d+ \((?<command>[^]*)\) \S (?<parent>\d+) (?<group>\d+)/.exec(text),
        )
      : promisify(execFile)('ps', ['-o', 'ppid=,pgid=,comm=', '-p', `${pid}`]).then(({ stdout }) =>
          /^\s*(?<parent>\d+)\s+(?<group>\d+)\s+(?:\S*\/)?(?<command>\S+)/.exec(stdout),
        )
  const { parent, group, command } = (await found.catch(() => undefined))?.groups ?? {}
  return parent === undefined ? undefined : { parent: Number(parent), group: Number(group), command: command! }
}

const isShell = ({ command }: Process): boolean => /^-?(?:ba|da|z|k|a)?sh$/.test(command)

/**
 * Calls back when npm or npx has ended, if it has started this process. Killed npm ends nothing but itself, or the shell that it has
 * started for the command. Not for a daemon: one in the background of a shell has another parent by then, and one that `setsid` or a supervisor
 * has started is in another group of processes than its parent.
 */
export const onEndOfNpm = async (onEnd: () => void): Promise<void> => {
  if (io().env['npm_lifecycle_event'] === undefined) return
  const [self, parent] = [await listed(process.pid), await listed(process.ppid)]
  if (!self || !parent || self.group !== parent.group) return
  const hasParents = async (): Promise<boolean> =>
    process.ppid === self.parent && (!isShell(parent) || (await listed(self.parent))?.parent === parent.parent)
  const lookLater = () => void setTimeout(() => void look(), EVERY_MS).unref()
  const look = async (): Promise<void> => ((await hasParents()) ? lookLater() : onEnd())
  lookLater()
}
