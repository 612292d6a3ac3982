import { hostname, userInfo } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { Command, InvalidArgumentError } from 'commander'
import { groups } from '../../../projections/index.ts'
import { runCommand, exitOnUsage, exitCodes } from '../../cli/exit.ts'
import { readCheckpoint } from '../../engine/checkpoint.ts'
import type { Group } from '../../engine/group.ts'
import { skipEvent } from '../../engine/skip.ts'
import { IN_QUARANTINE, inSchema, inWords, quarantineOf } from './quarantined-streams.ts'
import { type Opened, environmentHelp, withLog } from './with-log.ts'

const PATIENCE_MS = 10_000
const LOOK_MS = 50

const help = `
An event is added to the log that says which event is passed over, who decided so, and why. The event itself
stays in the log, but no read model applies it any more, also after \`tracebook rebuild\`: what it said is lost
for readers. This cannot be taken back. Where a projector runs, the rows of the stream are made anew without
the event within seconds; else as soon as one does.

${environmentHelp}

Exit codes:
  0  the event is passed over
  1  failed or refused (no event at this position keeps a stream in quarantine): nothing was changed
  2  wrong usage
  3  the event is passed over, and another one keeps its stream in quarantine`

type Skip = { readonly position: bigint; readonly why: string; readonly by: string }

/** Whether the read models of all groups come to a position within some seconds: no projector may run. */
const haveAllCome = async (url: string, known: readonly Group[], goal: bigint): Promise<boolean> => {
  const until = performance.now() + PATIENCE_MS
  for (const group of known) {
    const hasCome = await inSchema(url, group, async (client, schema) => {
      while ((await readCheckpoint(client, schema)).position < goal) {
        if (performance.now() > until) return false
        await setTimeout(LOOK_MS)
      }
      return true
    })
    if (!hasCome) return false
  }
  return true
}

/** Says what has become of the stream; gives the exit code. */
const tell = async ({ url, log }: Opened, stream: string, what: string): Promise<number> => {
  if (!(await haveAllCome(url, groups, await log.head()))) {
    console.log(`${what} The rows of ${stream} will be made anew as soon as a projector comes to it.`)
    return exitCodes.ok
  }
  const left = (await quarantineOf(url, groups)).filter(({ culprit }) => culprit.stream === stream)
  if (left.length === 0) {
    console.log(`${what} The rows of ${stream} have been made anew.`)
    return exitCodes.ok
  }
  console.log(what)
  console.error(`${stream} stays in quarantine:\n${left.map(inWords).join('\n')}`)
  return IN_QUARANTINE
}

const skip = ({ position, why, by }: Skip): Promise<number> =>
  withLog(async (opened) => {
    const { url, log, codec } = opened
    if (!(await quarantineOf(url, groups)).some(({ culprit }) => culprit.position === position))
      throw new Error(
        `no event at position ${position} keeps a stream in quarantine; \`tracebook log quarantine\` lists those that do`,
      )
    const { stream, type } = await skipEvent(log, codec, { position, why, by, now: Date.now })
    return tell(opened, stream, `${type} at position ${position} is passed over for good.`)
  })

const positionOf = (text: string): bigint => {
  if (!/^[1-9]\d{0,18}$/.test(text)) throw new InvalidArgumentError('A position is a whole number above 0.')
  return BigInt(text)
}

const textOf = (text: string): string => {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.')
  return text.trim()
}

/** Who runs this; a container may run as a user without a name. */
const caller = (): string => {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    return `${process.getuid?.() ?? 'unknown'}@${hostname()}`
  }
}

/** `tracebook log skip` */
export const skipCommand = (): Command =>
  new Command('skip')
    .description('Pass over an event that keeps its stream in quarantine, for good')
    .requiredOption('--position <position>', 'where the event stands: `tracebook log quarantine` names it', positionOf)
    .requiredOption('--why <text>', 'the reason, for those who read the log later', textOf)
    .option('--by <name>', 'who decides it', textOf, caller())
    .addHelpText('after', help)
    .exitOverride(exitOnUsage)
    .action((given: Skip) => runCommand(() => skip(given)))
