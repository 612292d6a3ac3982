import { hash, timingSafeEqual } from 'node:crypto'

/** Whether two texts are equal, in a time that does not depend on them. */
export const isSameSecret = (one: string, other: string): boolean =>
  timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'))
