import { readdir, readFile, readlink } from 'node:fs/promises'
import { basename } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { run } from './run-program.ts'

export type Process = { readonly pid: number; readonly command: readonly string[] }

/** A signal, and the milliseconds to wait for its effect. */
export type Step = readonly [NodeJS.Signals, number]

const viaPs = async (): Promise<Process[]> => {
  const { stdout } = await run('ps', ['-A', '-ww', '-o', 'pid=,command='])
  return stdout.split('\n').flatMap((line) => {
    const [, pid, command] = /^\s*(\d+) (.+)$/.exec(line) ?? []
    return pid && command ? [{ pid: Number(pid), command: command.split(' ') }] : []
  })
}

const viaProc = async (pid: string): Promise<Process[]> => {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return command === '' ? [] : [{ pid: Number(pid), command: command.split('\0') }]
}

/** The living processes of this machine; zombies and kernel threads have no command and are left out. */
export const processes = async (): Promise<Process[]> => {
  if (process.platform !== 'linux') return viaPs()
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  return (await Promise.all(pids.map(viaProc))).flat()
}

/** The server itself. Its children write `postgres: <cluster name>: <what they do>` over their command. */
export const isPostmaster = ({ command }: Process, marker: string): boolean =>
  basename(command[0] ?? '') === 'postgres' && command.includes(`cluster_name=${marker}`)

const isChild = ({ command }: Process, marker: string): boolean => command.join(' ').startsWith(`postgres: ${marker}: `)

/** All processes of the PostgreSQL with this marker, whoever started them. */
export const processesOf = async (marker: string): Promise<Process[]> =>
  (await processes()).filter((each) => isPostmaster(each, marker) || isChild(each, marker))

/** Whether a process may be a PostgreSQL that works in this folder; in doubt it is. */
export const mayServe = async ({ pid, command }: Process, folder: string): Promise<boolean> => {
  if (!/^(postgres|postmaster)(: |$)/.test(basename(command[0] ?? ''))) return false
  const workplace = await readlink(`/proc/${pid}/cwd`).catch(() => folder)
  return workplace === folder
}

/** Sends a signal; a process that has gone meanwhile is no error. */
export const send = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Sends signal after signal until `gone`, each with its own patience. */
export const insist = async (
  steps: readonly Step[],
  sendAll: (signal: NodeJS.Signals) => void | Promise<void>,
  gone: () => boolean | Promise<boolean>,
): Promise<void> => {
  for (const [signal, patience] of steps) {
    await sendAll(signal)
    for (const until = Date.now() + patience; Date.now() < until; await setTimeout(20)) if (await gone()) return
  }
}
