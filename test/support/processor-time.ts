import { readFileSync, readdirSync } from 'node:fs'

/** A process in `/proc`: its parent, and the processor time in seconds of itself and of its children that have ended. */
type Stat = { readonly parent: number; readonly seconds: number }

/** The ticks per second in which Linux counts processor time, on every machine. */
const TICKS = 100

const statOf = (pid: number): Stat | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return {
      parent: Number(fields[1]),
      seconds: fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS,
    }
  } catch {
    return undefined // the process has ended, or the system has no /proc
  }
}

const allStats = (): ReadonlyMap<number, Stat> => {
  const stats = new Map<number, Stat>()
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : undefined
    if (stat) stats.set(Number(name), stat)
  }
  return stats
}

/** The processor time in seconds that a process and its descendants have used so far. On Linux only. */
export const processorSeconds = (root: number | undefined): number => {
  const stats = allStats()
  const isOurs = (pid: number): boolean => pid === root || (stats.has(pid) && isOurs(stats.get(pid)!.parent))
  let sum = 0
  for (const [pid, { seconds }] of stats) if (isOurs(pid)) sum += seconds
  return sum
}
