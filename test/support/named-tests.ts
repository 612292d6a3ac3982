import * as uvu from 'uvu'

export type { Callback, Test } from 'uvu'

const { TEST_NAME: wanted = '' } = process.env

/** A suite that skips every test whose name does not contain TEST_NAME. */
const only = <Context>(test: uvu.Test<Context>): uvu.Test<Context> => {
  const register = (name: string, callback: uvu.Callback<Context>) =>
    name.includes(wanted) ? test(name, callback) : test.skip(name, callback)
  return Object.assign(register, test)
}

export const { exec } = uvu
export const test = only(uvu.test)
export const suite = <Context>(name?: string, context?: Context): uvu.Test<Context> => only(uvu.suite(name, context))
