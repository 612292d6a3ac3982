import { mainGroup } from '../../../projections/index.ts'
import { type OpenGroup, openGroups } from '../../../src/eventstore/engine/open-groups.ts'
import type { Group } from '../../../src/eventstore/engine/group.ts'
import { newWatermark } from '../../../src/eventstore/engine/watermark.ts'
import { type Database, onServer } from '../../support/database.ts'
import type { App } from '../../support/open-app.ts'
import type { Person } from '../../support/world.ts'
import { outage, silent } from '../../support/silent.ts'

/** A trace with a message that says `text`; gives its id. */
export const writeTrace = async ({ newTrace, send }: Person, trace: string, text: string): Promise<string> => {
  const { id, url } = await newTrace({}, [], trace)
  await send('PUT', `${url}/messages/m`, { role: 'user', textContent: text })
  return id
}

/** What the log holds of a trace, by type. */
export const eventsOf = async ({ service }: App, id: string): Promise<string[]> => {
  const types: string[] = []
  for await (const { type } of service.log.read(`trace-${id}`)) types.push(type)
  return types
}

export type Noted = { stream: string; attempts: number; reason: string | null }

/** What is still to be erased. */
export const notedIn = async ({ url }: Database): Promise<Noted[]> =>
  (await onServer(url, 'select stream, attempts, reason from tracebook.erasures order by position')).rows as Noted[]

/** A group as a node knows it, whose only one it is, or the one besides `main`; with `runs` it also builds the read models. */
export const nodeOf = ({ url }: Database, { service }: App, group: Group = mainGroup, runs = false): OpenGroup => {
  const { all, close } = openGroups({
    url,
    groups: group.name === mainGroup.name ? [group] : [mainGroup, group],
    log: service.log,
    codec: service.codec,
    runs,
    lastSeen: newWatermark(),
    logger: silent,
    outage,
    observe: () => {},
  })
  return { ...all.at(-1)!, close }
}
