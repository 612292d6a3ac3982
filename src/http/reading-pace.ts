/** How far a client has taken what it is being sent. Times are milliseconds that only move forward. */
export type Progress = {
  readonly began: number
  /** When the client took something last. */
  readonly tookAt: number
  readonly takenBytes: number
}

export const newProgress = (): Progress => {
  const began = performance.now()
  return { began, tookAt: began, takenBytes: 0 }
}

/** The client has taken all up to here. */
export const taken = ({ began }: Progress, takenBytes: number): Progress => ({
  began,
  tookAt: performance.now(),
  takenBytes,
})

/** For how many milliseconds the client has taken nothing. */
export const stalledFor = ({ tookAt }: Progress): number => performance.now() - tookAt

/** Bytes in a millisecond: a client that takes less holds memory that others wait for, however little it takes at a time. */
const MIN_PACE = 2048

/** Whether a client takes too little while others wait: nothing for so many milliseconds, or after these below 2 MB/s. */
export const isTooSlow = (progress: Progress, graceMs: number): boolean =>
  stalledFor(progress) > graceMs || performance.now() - progress.began > graceMs + progress.takenBytes / MIN_PACE
