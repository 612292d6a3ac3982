import { Unavailable } from './rejected.ts'

/**
 * What a promise comes to, if that does not take longer than `ms`; afterwards nobody listens to it.
 * @throws Unavailable with this message when it does
 */
export const within = <T>(ms: number, message: string, work: Promise<T>): Promise<T> => {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Unavailable(message)), ms)
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
