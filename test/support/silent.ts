import { newOutageLog } from '../../src/eventstore/engine/outage.ts'

/** A logger for parts whose log lines a test does not check. */
export const silent = { info: () => {}, warn: () => {}, error: () => {} }

export const outage = newOutageLog(silent)

/** Leaves the schemas of other versions alone. */
export const NO_CLEANUP = { run: () => {}, postpone: () => {} }
