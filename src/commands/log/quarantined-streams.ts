import { connectForApplying } from '../../engine/apply.ts'
import { type Group, schemaOf } from '../../engine/group.ts'
import { type Quarantined, readQuarantine } from '../../engine/quarantine.ts'
import { schemasOf } from '../../engine/schema.ts'
import { hangUp } from '../../postgres/connect.ts'

/** A stream in quarantine: the event that could not be applied, and the group of read models that could not apply it. */
export type QuarantinedStream = { readonly group: Group; readonly culprit: Quarantined }

/** The exit code when the command has done its work, and a stream is in quarantine. */
export const EXIT_QUARANTINED = 3

type Client = Awaited<ReturnType<typeof connectForApplying>>

/** Runs `work` with a connection to the schema of a group. @throws Error when the database has no such schema */
export const withSchema = async <T>(
  url: string,
  group: Group,
  work: (client: Client, schema: string) => Promise<T>,
): Promise<T> => {
  const schema = schemaOf(group)
  const client = await connectForApplying(url, schema)
  try {
    if (!(await schemasOf(client, group)).includes(schema))
      throw new Error(`the database has no read models ${schema}: no service of this version has run on it`)
    return await work(client, schema)
  } finally {
    await hangUp(client)
  }
}

/** All streams in quarantine, of all groups. @throws Error when the database lacks the schema of a group */
export const findQuarantined = async (url: string, groups: readonly Group[]): Promise<QuarantinedStream[]> => {
  const streams: QuarantinedStream[] = []
  for (const group of groups) {
    const culprits = await withSchema(url, group, readQuarantine)
    streams.push(...culprits.map((culprit) => ({ group, culprit })))
  }
  return streams
}

/** The stream with its event and the reason, on two lines. */
export const describeQuarantined = ({ group, culprit }: QuarantinedStream): string => {
  const { stream, position, revision, type, reason, at } = culprit
  return (
    `${stream}  since ${new Date(at).toISOString()}\n` +
    `  event ${type} at position ${position} (revision ${revision}): ${reason} (read models: ${group.name})`
  )
}
