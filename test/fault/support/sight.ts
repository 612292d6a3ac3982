import type { Came } from './asking.ts'
import type { Moments } from './moments.ts'

/**
 * Whether all stored writes to one stream can be read. A 503 may say that a write is stored but not visible yet; the next answered
 * write waits until both are. After a loss of data, read models in another database may still show them until a write is answered.
 */
export const newSight = (moments: Moments) => {
  let isClear = true
  moments.join({
    keep: () => {},
    fallBack: () => {
      isClear = false
    },
  })
  return {
    note: (came: Came) => {
      if (came.is === 'answered' && came.status === 200) isClear = true
      if (came.is === 'stored') isClear = false
    },
    isClear: () => isClear,
  }
}
