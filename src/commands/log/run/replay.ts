import { groups } from '../../../../projections/index.ts'
import { UsageError, exitCodes } from '../../../cli/exit.ts'
import { replayServed } from '../../../engine/replay.ts'
import { withSchema, describeQuarantined, findQuarantined } from '../quarantined-streams.ts'
import { withLog } from '../with-log.ts'

export const replay = (stream: string): Promise<number> =>
  withLog(async ({ url, log, codec }) => {
    const found = (await findQuarantined(url, groups)).filter(({ quarantined }) => quarantined.stream === stream)
    if (found.length === 0)
      throw new UsageError(`${stream} is not in quarantine; \`tracebook log quarantine\` lists the streams that are`)
    let exitCode: number = exitCodes.ok
    for (const { group } of found) {
      const quarantined = await withSchema(url, group, (client) =>
        replayServed({ client, group }, { log, codec }, stream),
      )
      if (quarantined) exitCode = exitCodes.found
      if (quarantined) console.error(`${stream} stays in quarantine:\n${describeQuarantined({ group, quarantined })}`)
      else console.log(`The rows of ${stream} have been made anew (read models: ${group.name}).`)
    }
    return exitCode
  })
