import { connectForApplying } from '../../engine/apply.ts'
import { type Group, schemaOf } from '../../engine/group.ts'
import { type Quarantined, readQuarantine } from '../../engine/quarantine.ts'
import { schemasOf } from '../../engine/schema.ts'
import { hangUp } from '../../postgres/connect.ts'

/** An event that keeps a stream in quarantine, and the read models that cannot apply it. */
export type Found = { readonly group: Group; readonly culprit: Quarantined }

/** Exit code: what was asked for was done, and something is in quarantine. */
export const IN_QUARANTINE = 3

type Client = Awaited<ReturnType<typeof connectForApplying>>

/** Works on the schema of a group. @throws Error when no service has made it in this database */
export const inSchema = async <T>(
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

/** What is in quarantine, in all groups. */
export const quarantineOf = async (url: string, groups: readonly Group[]): Promise<Found[]> => {
  const found: Found[] = []
  for (const group of groups) {
    const list = await inSchema(url, group, readQuarantine)
    found.push(...list.map((culprit) => ({ group, culprit })))
  }
  return found
}

/** A stream in quarantine, in words. */
export const inWords = ({ group, culprit }: Found): string => {
  const { stream, position, revision, type, reason, at } = culprit
  return (
    `${stream}  since ${new Date(at).toISOString()}\n` +
    `  event ${type} at position ${position} (revision ${revision}): ${reason} (read models: ${group.name})`
  )
}
