import { z } from 'zod'

/** A setting that is a whole number; the error says which ones there are. */
export const wholeNumber = (min: number, max = Number.MAX_SAFE_INTEGER) => {
  const error = `must be a whole number ${max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`}`
  return z.coerce.number({ error }).int({ error }).min(min, { error }).max(max, { error })
}
