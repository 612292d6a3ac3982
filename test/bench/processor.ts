import { readFileSync, readdirSync } from 'node:fs'

/** The kernel counts processor time in hundredths of a second. */
const TICK_US = 10_000

type Process = { readonly pid: number; readonly parent: number; readonly us: number }

const read = (pid: string): Process | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Its second field is a name in parentheses, which may hold anything.
    const [, parent, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { pid: Number(pid), parent: Number(parent), us: (Number(rest[9]) + Number(rest[10])) * TICK_US }
  } catch {
    return undefined // it has ended
  }
}

const processes = (): readonly Process[] =>
  readdirSync('/proc').flatMap((name) => (/^[0-9]+$/.test(name) ? (read(name) ?? []) : []))

/** Microseconds of processor time that a process has taken, and those that it has started, directly or not. Linux only. */
export const processorUs = (pid: number): { readonly own: number; readonly started: number } => {
  const all = processes()
  const below = (parent: number): number =>
    all.filter((each) => each.parent === parent).reduce((sum, each) => sum + each.us + below(each.pid), 0)
  return { own: all.find((each) => each.pid === pid)?.us ?? 0, started: below(pid) }
}
