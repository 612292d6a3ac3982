import v8 from 'node:v8'

/**
 * Keeps the part of the heap small that new objects go to: what passes through a run lives so briefly that V8 would let that
 * part grow to a hundred megabytes. To be called before much is allocated.
 */
export const keepHeapSmall = (): void => v8.setFlagsFromString('--semi-space-growth-factor=1')
