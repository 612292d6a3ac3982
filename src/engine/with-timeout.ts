import { Unavailable } from './rejected.ts'

/** Rejects with `Unavailable` and this message if `work` takes longer than `ms`; the work itself goes on. */
export const withTimeout = <T>(ms: number, message: string, work: Promise<T>): Promise<T> => {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Unavailable(message)), ms)
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
