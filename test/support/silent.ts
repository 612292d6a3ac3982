import { newOutageLog } from '../../src/engine/outage.ts'

/** For parts whose log lines a test does not look at. */
export const silent = { info: () => {}, warn: () => {}, error: () => {} }

export const outage = newOutageLog(silent)
