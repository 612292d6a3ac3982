import v8 from 'node:v8'

/**
 * Keeps the heap small, and its collection cheap: what passes through a run lives so briefly that V8 would let the part for new
 * objects grow to a hundred megabytes, and the other part to twice of what is used. Several threads for a megabyte of new objects
 * would wait for one another most of the time. To be called before much is allocated.
 */
export const keepHeapSmall = (): void =>
  ['--semi-space-growth-factor=1', '--heap-growing-percent=100', '--no-parallel-scavenge'].forEach(
    v8.setFlagsFromString,
  )
