import { TraceUpsert } from '../contract/trace.ts'
import { pickDefined } from '../http/check.ts'
import type { GivenFields } from './decide.ts'

const names = Object.keys(TraceUpsert.shape) as (keyof TraceUpsert)[]

/** The known fields of a body. Unknown ones are left out. */
export const givenFields = (body: TraceUpsert): GivenFields => pickDefined(body, names)
