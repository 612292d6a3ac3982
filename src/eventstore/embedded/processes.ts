import { readdir, readFile, readlink } from 'node:fs/promises'
import { basename } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { runProgram } from './run-program.ts'

type Process = { readonly pid: number; readonly command: readonly string[] }

/** A signal, and how many milliseconds to wait for its effect. */
export type SignalStep = readonly [NodeJS.Signals, number]

const viaPs = async (): Promise<Process[]> => {
  const { stdout } = await runProgram('ps', ['-A', '-ww', '-o', 'pid=,command='])
  return stdout.split('\n').flatMap((line) => {
    const [, pid, command] = /^\s*(\d+) (.+)$/.exec(line) ?? []
    return pid && command ? [{ pid: Number(pid), command: command.split(' ') }] : []
  })
}

const viaProc = async (pid: string): Promise<Process[]> => {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return command === '' ? [] : [{ pid: Number(pid), command: command.split('\0') }]
}

/** The processes of this machine, without zombies and kernel threads, which have no command line. */
export const runningProcesses = async (): Promise<Process[]> => {
  if (process.platform !== 'linux') return viaPs()
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  return (await Promise.all(pids.map(viaProc))).flat()
}

/** Whether a process is the server itself. Its children change their command lines to `postgres: <cluster name>: …`. */
export const isPostmaster = ({ command }: Process, marker: string): boolean =>
  basename(command[0] ?? '') === 'postgres' && command.includes(`cluster_name=${marker}`)

const isChild = ({ command }: Process, marker: string): boolean => command.join(' ').startsWith(`postgres: ${marker}: `)

/** All processes of the PostgreSQL with this marker. */
export const processesOf = async (marker: string): Promise<Process[]> =>
  (await runningProcesses()).filter((each) => isPostmaster(each, marker) || isChild(each, marker))

/** Whether a process is a PostgreSQL in this folder; also true if its folder cannot be read. */
export const mayBeServerOf = async ({ pid, command }: Process, folder: string): Promise<boolean> => {
  if (!/^(postgres|postmaster)(: |$)/.test(basename(command[0] ?? ''))) return false
  const workingFolder = await readlink(`/proc/${pid}/cwd`).catch(() => folder)
  return workingFolder === folder
}

/** Whether a process with this pid exists, of any user. Also true for one that has ended but was not reaped. */
export const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Sends a signal. Does nothing if the process has ended. */
export const sendSignal = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Sends one signal after the other until `gone` returns true, and waits after each as long as its step says. */
export const signalUntilGone = async (
  steps: readonly SignalStep[],
  sendAll: (signal: NodeJS.Signals) => void | Promise<void>,
  gone: () => boolean | Promise<boolean>,
): Promise<void> => {
  for (const [signal, waitMs] of steps) {
    await sendAll(signal)
    for (const until = Date.now() + waitMs; Date.now() < until; await setTimeout(20)) if (await gone()) return
  }
}
