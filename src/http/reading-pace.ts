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

/** What a client has to take while others wait for the memory of what it is being sent. */
export type MinPace = {
  /** For so many milliseconds it may take nothing. */
  readonly graceMs: number
  /** After these it has to take so much on average, or it could hold the memory for long by taking little by little. */
  readonly bytesPerMs: number
}

export const isTooSlow = (progress: Progress, { graceMs, bytesPerMs }: MinPace): boolean =>
  stalledFor(progress) > graceMs || performance.now() - progress.began > graceMs + progress.takenBytes / bytesPerMs
