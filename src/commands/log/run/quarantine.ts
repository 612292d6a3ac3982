import { io } from '../../../cli/io.ts'
import { groups } from '../../../../projections/index.ts'
import { exitCodes } from '../../../cli/exit.ts'
import { readConfig } from '../../../config.ts'
import { findDatabaseUrl } from '../../database-url.ts'
import { type QuarantinedInGroup, describeQuarantined, findQuarantined } from '../quarantined-streams.ts'

const toJson = ({ group, quarantined }: QuarantinedInGroup) =>
  JSON.stringify({
    group: group.name,
    ...quarantined,
    position: `${quarantined.position}`,
    revision: `${quarantined.revision}`,
  })

export const list = async (json: boolean): Promise<number> => {
  const streams = await findQuarantined(await findDatabaseUrl(readConfig(io().env)), groups)
  for (const stream of streams) console.log(json ? toJson(stream) : describeQuarantined(stream))
  if (streams.length > 0) return exitCodes.found
  if (!json) console.log('No stream is in quarantine.')
  return exitCodes.ok
}
