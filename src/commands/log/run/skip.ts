import { groups } from '../../../../projections/index.ts'
import { UsageError, exitCodes } from '../../../cli/exit.ts'
import { skipEvent } from '../../../engine/skip.ts'
import { UNSKIPPABLE } from '../../../events.ts'
import { haveCaughtUp } from '../have-caught-up.ts'
import { describeQuarantined, findQuarantined } from '../quarantined-streams.ts'
import { type OpenedLog, withLog } from '../with-log.ts'

export type SkipOptions = { readonly position: bigint; readonly why: string; readonly by: string }

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
  return exitCodes.found
}

export const skip = ({ position, why, by }: SkipOptions): Promise<number> =>
  withLog(async (opened) => {
    const { url, log, codec } = opened
    const found = (await findQuarantined(url, groups)).find(({ quarantined }) => quarantined.position === position)
    if (!found)
      throw new UsageError(
        `no event at position ${position} keeps a stream in quarantine; \`tracebook log quarantine\` lists those that do`,
      )
    const { stream } = found.quarantined
    const decision = { stream, position, why, by, now: Date.now, unskippable: UNSKIPPABLE }
    const { type } = await skipEvent(log, codec, decision)
    return reportResult(opened, stream, `${type} at position ${position} is passed over for good.`)
  })
