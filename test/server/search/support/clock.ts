import type { QueryClock } from '../../../../src/server/search/times.ts'

/** The clock of queries in tests: Wednesday, in Berlin's summer. */
export const clock: QueryClock = { now: Date.parse('2026-05-06T12:00:00Z'), zone: 'Europe/Berlin' }
