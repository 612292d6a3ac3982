import { z } from 'zod'
import { Key } from '../contract/parameters.ts'
import { pickDefined } from '../http/pick-defined.ts'
import type { GivenFields } from './decide.ts'
import { Visibility } from './events.ts'
import { givenTexts } from './fields.ts'
import { traceMeanings } from './meanings.ts'

const written = { ...givenTexts, visibility: Visibility.optional() }

const exampleFields = { agentId: 'my-agent', title: 'Mend the login page', model: 'gpt-5', visibility: 'private' }

export const TraceUpsert = z.object(written).meta({
  id: 'TraceUpsert',
  description:
    'What a trace says of itself. What is not given stays as it is; but PUT without `visibility` makes it `private`',
  examples: [exampleFields],
})
export type TraceUpsert = z.infer<typeof TraceUpsert>

export const TraceCreate = z.object({ externalId: Key.meta(traceMeanings.externalId), ...written }).meta({
  id: 'TraceCreate',
  description: 'A trace: its id and what it says of itself',
  examples: [{ externalId: 'my-first-session', ...exampleFields }],
})
export type TraceCreate = z.infer<typeof TraceCreate>

const names = Object.keys(written) as (keyof typeof written)[]

/** The known members that a body has of its own; others are left out. */
export const givenFields = (body: TraceUpsert): GivenFields => pickDefined(body, names)
