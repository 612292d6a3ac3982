import { hostname, userInfo } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { Command, InvalidArgumentError } from 'commander'
import { groups } from '../../../projections/index.ts'
import { runCommand, exitOnUsage, exitCodes } from '../../cli/exit.ts'
import { readCheckpoint } from '../../engine/checkpoint.ts'
import type { Group } from '../../engine/group.ts'
import { skipEvent } from '../../engine/skip.ts'
import { UNSKIPPABLE } from '../../events.ts'
import { EXIT_QUARANTINED, withSchema, describeQuarantined, findQuarantined } from './quarantined-streams.ts'
import { type OpenedLog, environmentHelp, withLog } from './with-log.ts'

const CATCH_UP_TIMEOUT_MS = 10_000
const POLL_MS = 50

const help = `
An event is added to the log that says which event is passed over, who decided so, and why. The event itself
stays in the log, but no read model applies it any more, also after \`tracebook rebuild\`: what it said is lost
for readers. This cannot be taken back. Where a projector runs, the rows of the stream are made anew without
the event within seconds; else as soon as one does.

Examples:
  tracebook log skip --position 1204 --why "a title that no version can read"

${environmentHelp}

Exit codes:
  0  the event is passed over
  1  failed or refused (no event at this position keeps a stream in quarantine): nothing was changed
  2  wrong usage
  3  the event is passed over, and another one keeps its stream in quarantine`

type SkipOptions = { readonly position: bigint; readonly why: string; readonly by: string }

/** Whether the read models of all groups reach a position within ten seconds. They do not when no projector runs. */
const haveCaughtUp = async (url: string, groups: readonly Group[], position: bigint): Promise<boolean> => {
  const deadline = performance.now() + CATCH_UP_TIMEOUT_MS
  for (const group of groups) {
    const hasCaughtUp = await withSchema(url, group, async (client, schema) => {
      while ((await readCheckpoint(client, schema)).position < position) {
        if (performance.now() > deadline) return false
        await setTimeout(POLL_MS)
      }
      return true
    })
    if (!hasCaughtUp) return false
  }
  return true
}

/** Waits for the read models, prints the state of the stream after `done`, and returns the exit code. */
const reportResult = async ({ url, log }: OpenedLog, stream: string, done: string): Promise<number> => {
  if (!(await haveCaughtUp(url, groups, await log.head()))) {
    console.log(`${done} The rows of ${stream} will be made anew as soon as a projector comes to it.`)
    return exitCodes.ok
  }
  const found = (await findQuarantined(url, groups)).filter(({ quarantined }) => quarantined.stream === stream)
  if (found.length === 0) {
    console.log(`${done} The rows of ${stream} have been made anew.`)
    return exitCodes.ok
  }
  console.log(done)
  console.error(`${stream} stays in quarantine:\n${found.map(describeQuarantined).join('\n')}`)
  return EXIT_QUARANTINED
}

const skip = ({ position, why, by }: SkipOptions): Promise<number> =>
  withLog(async (opened) => {
    const { url, log, codec } = opened
    if (!(await findQuarantined(url, groups)).some(({ quarantined }) => quarantined.position === position))
      throw new Error(
        `no event at position ${position} keeps a stream in quarantine; \`tracebook log quarantine\` lists those that do`,
      )
    const { stream, type } = await skipEvent(log, codec, { position, why, by, now: Date.now, unskippable: UNSKIPPABLE })
    return reportResult(opened, stream, `${type} at position ${position} is passed over for good.`)
  })

const parsePosition = (text: string): bigint => {
  if (!/^[1-9]\d{0,18}$/.test(text)) throw new InvalidArgumentError('A position is a whole number above 0.')
  return BigInt(text)
}

const parseText = (text: string): string => {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.')
  return text.trim()
}

/** `user@host` of this process; with the number of the user where it has no name, as in some containers. */
const currentUser = (): string => {
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
    .requiredOption(
      '--position <position>',
      'where the event stands: `tracebook log quarantine` names it',
      parsePosition,
    )
    .requiredOption('--why <text>', 'the reason, for those who read the log later', parseText)
    .option('--by <name>', 'who decides it', parseText, currentUser())
    .addHelpText('after', help)
    .exitOverride(exitOnUsage)
    .action((options: SkipOptions) => runCommand(() => skip(options)))
