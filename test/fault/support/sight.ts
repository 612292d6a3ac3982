import type { Came } from './asking.ts'
import type { Moments } from './moments.ts'

/**
 * Whether what has been written to one stream can be read. A 503 may say that a write is stored, but cannot be seen yet;
 * the next one that is answered waits for both. After data were lost, read models that lie elsewhere may show them still,
 * until a write is answered.
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
